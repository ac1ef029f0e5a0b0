#include "upstream/http/fields.hpp"

#include <algorithm>

namespace idem::upstream::http {
namespace {

constexpr char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

constexpr std::string_view trim(std::string_view s) noexcept {
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
    return s;
}

}  // namespace

void fields::add(std::string_view name, std::string_view value) {
    const std::size_t at = arena_.size();
    const std::size_t needed = at + name.size() + value.size();
    if (needed <= arena_.capacity()) {
        arena_.append(name).append(value);
    } else {
        // The arguments may be views into this very arena: it must live until both are copied.
        std::string bigger;
        bigger.reserve(std::max({needed, 2 * arena_.capacity(), std::size_t{512}}));
        bigger.append(arena_).append(name).append(value);
        arena_.swap(bigger);
    }
    slots_.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(name.size()),
                      static_cast<std::uint32_t>(at + name.size()), static_cast<std::uint32_t>(value.size())});
}

std::optional<std::string_view> fields::find(std::string_view name) const noexcept {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        const auto [n, v] = (*this)[i];
        if (iequals(n, name)) return v;
    }
    return std::nullopt;
}

std::size_t fields::count(std::string_view name) const noexcept {
    std::size_t n = 0;
    for (const auto [have, value] : *this) n += iequals(have, name);
    return n;
}

std::size_t fields::remove(std::string_view name) noexcept {
    return std::erase_if(
        slots_, [&](const slot& s) { return iequals(std::string_view(arena_).substr(s.name_at, s.name_size), name); });
}

field fields::operator[](std::size_t i) const noexcept {
    const slot& s = slots_[i];
    return {{arena_.data() + s.name_at, s.name_size}, {arena_.data() + s.value_at, s.value_size}};
}

void fields::clear() noexcept {
    arena_.clear();
    slots_.clear();
}

void fields::release_above(std::size_t bytes) noexcept {
    if (arena_.capacity() + slots_.capacity() * sizeof(slot) > bytes) *this = fields{};
}

bool iequals(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] != b[i] && lower(a[i]) != lower(b[i])) return false;
    }
    return true;
}

bool list_has(std::string_view list, std::string_view token) noexcept {
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        if (iequals(trim(list.substr(0, comma)), token)) return true;
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return false;
}

}  // namespace idem::upstream::http
