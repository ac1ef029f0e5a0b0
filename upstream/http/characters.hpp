#pragma once
// Character classes of HTTP (RFC 9110 section 5.6). Pure.
#include <algorithm>
#include <array>
#include <string_view>

#include "upstream/base/words.hpp"

namespace idem::upstream::http {

inline constexpr std::array<bool, 256> token_characters = [] {
    std::array<bool, 256> table{};
    for (unsigned c = '0'; c <= '9'; ++c) table[c] = true;
    for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = true;
    for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = true;
    for (const char c : std::string_view("!#$%&'*+-.^_`|~")) table[static_cast<unsigned char>(c)] = true;
    return table;
}();

constexpr bool is_token_character(char c) noexcept {
    return token_characters[static_cast<unsigned char>(c)];
}
constexpr bool is_token(std::string_view s) noexcept {
    return !s.empty() && std::ranges::all_of(s, is_token_character);
}
constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// All control characters but HTAB. Field values may hold the rest: VCHAR, SP, HTAB and obs-text.
constexpr bool is_control(char c) noexcept {
    const auto u = static_cast<unsigned char>(c);
    return (u < 0x20 && u != '\t') || u == 0x7f;
}

inline bool has_control(std::string_view s) noexcept {
    const auto maybe = [](std::uint64_t word) { return words::below(word, 0x20) | words::equal(word, 0x7f); };
    return words::any(s, maybe) && std::ranges::any_of(s, is_control);
}

/// Without optional white space (SP, HTAB) at both ends.
constexpr std::string_view trim(std::string_view s) noexcept {
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
    return s;
}

}  // namespace idem::upstream::http
