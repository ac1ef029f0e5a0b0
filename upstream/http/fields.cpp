#include "upstream/http/fields.hpp"

#include <algorithm>

#include "upstream/http/characters.hpp"

namespace idem::upstream::http {
namespace {

constexpr std::size_t first_bytes = 512;
constexpr std::size_t first_slots = 24;

constexpr char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
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
        bigger.reserve(std::max({needed, 2 * arena_.capacity(), first_bytes}));
        bigger.append(arena_).append(name).append(value);
        arena_.swap(bigger);
    }
    slots_.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(name.size()),
                      static_cast<std::uint32_t>(at + name.size()), static_cast<std::uint32_t>(value.size())});
}

std::string_view fields::hold(std::string_view bytes) {
    const std::size_t at = arena_.size();
    arena_.reserve(std::max(at + bytes.size(), first_bytes));
    if (slots_.capacity() == 0) slots_.reserve(first_slots);
    arena_.append(bytes);
    return std::string_view(arena_).substr(at);
}

void fields::add_held(std::string_view name, std::string_view value) {
    const auto place = [this](std::string_view part) {
        return static_cast<std::uint32_t>(part.data() - arena_.data());
    };
    slots_.push_back(
        {place(name), static_cast<std::uint32_t>(name.size()), place(value), static_cast<std::uint32_t>(value.size())});
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

void fields::clear() noexcept {
    arena_.clear();
    slots_.clear();
}

void fields::release_above(std::size_t bytes) noexcept {
    if (arena_.capacity() + slots_.capacity() * sizeof(slot) > bytes) *this = fields{};
}

bool iequals_bytes(const char* a, const char* b, std::size_t size) noexcept {
    for (std::size_t i = 0; i < size; ++i) {
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
