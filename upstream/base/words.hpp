#pragma once
// Text looked at eight bytes at a time (S. E. Anderson, "Bit Twiddling Hacks": haszero, hasless). A test sets the top
// bit of the first byte that it looks for and of none before; what it sets behind that one means nothing. Pure.
#include <cstdint>
#include <cstring>
#include <string_view>

namespace idem::words {

[[nodiscard]] constexpr std::uint64_t each(std::uint8_t byte) noexcept {
    return 0x0101010101010101u * byte;
}

inline constexpr std::uint64_t top_bits = each(0x80);

[[nodiscard]] inline std::uint64_t load(const char* at) noexcept {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

/// Bytes equal to `c`.
[[nodiscard]] constexpr std::uint64_t equal(std::uint64_t word, char c) noexcept {
    const std::uint64_t v = word ^ each(static_cast<std::uint8_t>(c));
    return (v - each(1)) & ~v & top_bits;
}

/// Bytes below `limit`, which is at most 0x80.
[[nodiscard]] constexpr std::uint64_t below(std::uint64_t word, std::uint8_t limit) noexcept {
    return (word - each(limit)) & ~word & top_bits;
}

/// Bytes beyond ASCII.
[[nodiscard]] constexpr std::uint64_t beyond_ascii(std::uint64_t word) noexcept {
    return word & top_bits;
}

/// Whether `test` finds a byte anywhere in `text`.
template <class Test>
[[nodiscard]] bool any(std::string_view text, Test test) noexcept {
    const char* const data = text.data();
    const std::size_t size = text.size();
    if (size >= 8) {
        for (std::size_t at = 0; at + 8 < size; at += 8) {
            if (test(load(data + at)) != 0) return true;
        }
        return test(load(data + size - 8)) != 0;  // some of it for the second time
    }
    if (size == 0) return false;
    std::uint64_t word = each(static_cast<std::uint8_t>(data[0]));
    for (std::size_t at = 1; at < size; ++at) word = word << 8 | static_cast<std::uint8_t>(data[at]);
    return test(word) != 0;
}

}  // namespace idem::words
