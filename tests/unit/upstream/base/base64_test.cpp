#include "upstream/base/base64.hpp"

#include <doctest/doctest.h>

using namespace idem;

TEST_CASE("base64: the vectors of RFC 4648 section 10") {
    constexpr std::pair<std::string_view, std::string_view> vectors[] = {{"", ""},
                                                                         {"f", "Zg=="},
                                                                         {"fo", "Zm8="},
                                                                         {"foo", "Zm9v"},
                                                                         {"foob", "Zm9vYg=="},
                                                                         {"fooba", "Zm9vYmE="},
                                                                         {"foobar", "Zm9vYmFy"}};
    for (const auto& [bytes, text] : vectors) {
        CHECK(base64_of(bytes) == text);
        CHECK(base64_bytes(text) == bytes);
    }
    CHECK(base64_bytes("+/+/") == "\xfb\xff\xbf");
}

TEST_CASE("base64: nothing but whole groups, the alphabet, and padding at the end") {
    for (std::string_view bad : {"A", "AA", "AAA", "AAAAA", "AA=A", "=AAA", "A===", "====", "AA==AAAA", "AAA\n", " AAA",
                                 "AAAA\nAAA", "AA-_", "AAAA\xc3\xa9==", "\"AAA"})
        CHECK_FALSE(base64_bytes(bad));
}
