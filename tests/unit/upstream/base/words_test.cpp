#include "upstream/base/words.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <string>

using namespace idem;

namespace {

struct sought {
    std::uint64_t (*test)(std::uint64_t);
    bool (*byte)(unsigned char);
};

constexpr sought kinds[] = {
    {[](std::uint64_t w) { return words::equal(w, '"'); }, [](unsigned char c) { return c == '"'; }},
    {[](std::uint64_t w) { return words::equal(w, '\0'); }, [](unsigned char c) { return c == 0; }},
    {[](std::uint64_t w) { return words::below(w, 0x20); }, [](unsigned char c) { return c < 0x20; }},
    {[](std::uint64_t w) { return words::below(w, 0x80); }, [](unsigned char c) { return c < 0x80; }},
    {[](std::uint64_t w) { return words::beyond_ascii(w); }, [](unsigned char c) { return c >= 0x80; }},
};

}  // namespace

TEST_CASE("every byte is found at every place of a text of every length, and in no other text") {
    for (const sought& kind : kinds) {
        for (int c = 0; c < 256; ++c) {
            const bool wanted = kind.byte(static_cast<unsigned char>(c));
            const char other = kind.byte('x') ? static_cast<char>(0xf0) : 'x';
            for (std::size_t size = 0; size < 20; ++size) {
                CHECK_FALSE(words::any(std::string(size, other), kind.test));
                for (std::size_t at = 0; at < size; ++at) {
                    std::string text(size, other);
                    text[at] = static_cast<char>(c);
                    CAPTURE(c);
                    CAPTURE(at);
                    CAPTURE(size);
                    REQUIRE(words::any(text, kind.test) == wanted);
                }
            }
        }
    }
}

TEST_CASE("the lowest mark is the first byte that was looked for") {
    const std::string text = "ab\"c\"\"de";
    CHECK(std::countr_zero(words::equal(words::load(text.data()), '"')) / 8 == 2);
    CHECK(std::countr_zero(words::below(words::load("abcde\x1f\x01z"), 0x20)) / 8 == 5);
}
