#pragma once
// Bindings of table keys to struct members, named by a path of member pointers. Used by schema.cpp alone.
#include <optional>
#include <type_traits>

#include "gateway/config/schema.hpp"

namespace idem::gateway::config::detail {

template <class T>
struct owner_of;
template <class Owner, class Member>
struct owner_of<Member Owner::*> {
    using type = Owner;
};
/// The struct that the first member pointer belongs to.
template <class First, class...>
struct first_owner : owner_of<First> {};
template <auto... Path>
using owner = typename first_owner<decltype(Path)...>::type;

template <auto... Path, class Object>
auto& reach(Object& o) {
    return (o.*....*Path);
}

template <class T>
void assign(T& into, const value& v) {
    if constexpr (std::is_same_v<T, std::string>) {
        into = v.text;
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
        into = v.list;
    } else if constexpr (std::is_same_v<T, std::vector<std::pair<std::string, std::string>>>) {
        into = v.pairs;
    } else if constexpr (std::is_same_v<T, address>) {
        into = v.at;
    } else if constexpr (std::is_same_v<T, milliseconds>) {
        into = milliseconds(static_cast<std::int64_t>(v.number));
    } else if constexpr (std::is_same_v<T, bool>) {
        into = v.number != 0;
    } else {
        into = static_cast<T>(v.number);
    }
}
template <class T>
void assign(std::optional<T>& into, const value& v) {
    assign(into.emplace(), v);
}

template <class T>
std::optional<value> read(const T& from) {
    value v;
    if constexpr (std::is_same_v<T, std::string>) {
        v.text = from;
        if (from.empty()) return std::nullopt;
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
        v.list = from;
        if (from.empty()) return std::nullopt;
    } else if constexpr (std::is_same_v<T, std::vector<std::pair<std::string, std::string>>>) {
        v.pairs = from;
        if (from.empty()) return std::nullopt;
    } else if constexpr (std::is_same_v<T, address>) {
        v.at = from;
    } else if constexpr (std::is_same_v<T, milliseconds>) {
        v.number = static_cast<std::uint64_t>(from.count());
    } else {
        v.number = static_cast<std::uint64_t>(from);
    }
    return v;
}
template <class T>
std::optional<value> read(const std::optional<T>& from) {
    return from ? read(*from) : std::nullopt;
}

/// One member, reached through nested structs.
template <auto... Path>
constexpr binding member() {
    using object = owner<Path...>;
    return {.set = [](void* into, const value& v) { assign(reach<Path...>(*static_cast<object*>(into)), v); },
            .get = [](const void* from) { return read(reach<Path...>(*static_cast<const object*>(from))); }};
}

/// The elements of a vector.
template <auto Vector>
constexpr binding elements() {
    using object = owner<Vector>;
    return {.append = [](void* into) -> void* { return &(static_cast<object*>(into)->*Vector).emplace_back(); },
            .count = [](const void* from) { return (static_cast<const object*>(from)->*Vector).size(); },
            .element = [](const void* from, std::size_t i) -> const void* {
                return &(static_cast<const object*>(from)->*Vector)[i];
            }};
}

}  // namespace idem::gateway::config::detail
