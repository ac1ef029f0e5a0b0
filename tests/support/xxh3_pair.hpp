#pragma once
// Two different JSON bodies with one XXH3-128 (and so one XXH3-64): XXH3's accumulators are sums, so two stripes whose
// low words agree under their keys can trade one bit. Shows what XXH3 must never be used for.
#define XXH_STATIC_LINKING_ONLY
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <optional>
#include <string>
#include <utility>

namespace idem::test {
namespace detail {

inline bool printable(int c) {
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

// Low words for the two stripes, equal under the keys; empty if some byte has no printable pair.
inline std::pair<std::string, std::string> low_words(const unsigned char* k1, const unsigned char* k2) {
    std::pair<std::string, std::string> words;
    for (int j = 0; j < 4; ++j) {
        int c = 0x20;
        while (c < 0x7f && !(printable(c) && printable(c ^ k1[j] ^ k2[j]))) ++c;
        if (c == 0x7f) return {};
        words.first += static_cast<char>(c);
        words.second += static_cast<char>(c ^ k1[j] ^ k2[j]);
    }
    return words;
}

// A byte and bit of the high word in which the two keys agree.
inline std::optional<std::pair<int, int>> common_bit(const unsigned char* k1, const unsigned char* k2) {
    for (int j = 4; j < 8; ++j) {
        for (int r = 0; r < 4; ++r) {
            if (!(((k1[j] ^ k2[j]) >> r) & 1)) return std::pair{j, r};
        }
    }
    return std::nullopt;
}

}  // namespace detail

inline std::optional<std::pair<std::string, std::string>> xxh3_pair() {
    constexpr std::size_t size = 700, stripe = 64;
    const std::string head = R"({"model":"m","messages":[{"role":"user","content":")", tail = "\"}]}";
    const std::string plain = head + std::string(size - head.size() - tail.size(), 'x') + tail;
    const auto* const secret = reinterpret_cast<const unsigned char*>(XXH3_kSecret);
    for (std::size_t s = 1; s < (size - 1) / stripe; ++s) {
        for (std::size_t t = s + 1; t < (size - 1) / stripe; ++t) {
            for (std::size_t lane = 0; lane < 8; ++lane) {
                const unsigned char* const k1 = secret + 8 * s + 8 * lane;
                const unsigned char* const k2 = secret + 8 * t + 8 * lane;
                const auto [low1, low2] = detail::low_words(k1, k2);
                const auto bit = detail::common_bit(k1, k2);
                if (low1.empty() || !bit) continue;
                std::string a = plain;
                a.replace(stripe * s + 8 * lane, 8, low1 + "@@@@");
                a.replace(stripe * t + 8 * lane, 8, low2 + "@@@@");
                std::string b = a;
                const auto at = 8 * lane + static_cast<std::size_t>(bit->first);
                a[stripe * t + at] = b[stripe * s + at] = static_cast<char>('@' | 1 << bit->second);
                if (a != b && XXH3_64bits(a.data(), size) == XXH3_64bits(b.data(), size) &&
                    XXH128_isEqual(XXH3_128bits(a.data(), size), XXH3_128bits(b.data(), size))) {
                    return std::pair{a, b};
                }
            }
        }
    }
    return std::nullopt;
}

}  // namespace idem::test
