#include "cache/request/normalise.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

using namespace idem;

namespace {

constexpr cache::text_rules nfc{.nfc = true};
constexpr cache::text_rules collapse{.collapse_whitespace = true};
constexpr cache::text_rules trim{.trim = true};
constexpr cache::text_rules all{true, true, true};

std::string made(std::string text, const cache::text_rules& rules) {
    const std::string before = text;
    const bool changed = cache::normalise(text, rules);
    CHECK(changed == (text != before));
    return text;
}

const std::vector<std::string> white = {
    "\t",           "\n",           "\v",           "\f",           "\r",           " ",
    "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x8a", "\xe2\x80\xa8",
    "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};

std::string text_of(const std::vector<std::string>& pieces) {
    std::string text;
    for (const std::string& piece : *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces)))
        text += piece;
    return text;
}

// Letters, marks that combine and that do not, jamo, white space, and what merely looks like it.
std::string any_text() {
    static const std::vector<std::string> pieces = [] {
        std::vector<std::string> list = {"a",
                                         "E",
                                         "\xc3\xa9",          // U+00E9
                                         "\xcc\x81",          // U+0301
                                         "\xcc\xa3",          // U+0323
                                         "\xe1\x84\x80",      // U+1100
                                         "\xe1\x85\xa1",      // U+1161
                                         "\xe1\x86\xa8",      // U+11A8
                                         "\xe2\x84\xab",      // U+212B
                                         "\xef\xac\x9d",      // U+FB1D, excluded from composition
                                         "\xe0\xa5\x98",      // U+0958, too
                                         "\xf0\x9d\x85\xa0",  // U+1D160
                                         "\xe2\x80\x8b",      // U+200B
                                         "\xef\xbb\xbf",      // U+FEFF
                                         "\x1f"};
        list.insert(list.end(), white.begin(), white.end());
        return list;
    }();
    return text_of(pieces);
}

}  // namespace

TEST_CASE("nothing is done without being asked for") {
    std::string text = " e\xcc\x81  ";
    CHECK_FALSE(cache::normalise(text, {}));
    CHECK(text == " e\xcc\x81  ");
}

TEST_CASE("NFC composes what is canonically equivalent") {
    CHECK(made("caf\xc3\xa9", nfc) == "caf\xc3\xa9");
    CHECK(made("cafe\xcc\x81", nfc) == "caf\xc3\xa9");
    CHECK(made("\xe2\x84\xab", nfc) == "\xc3\x85");                                // ANGSTROM SIGN
    CHECK(made("\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8", nfc) == "\xea\xb0\x81");    // Hangul
    CHECK(made("q\xcc\x87\xcc\xa3", nfc) == "q\xcc\xa3\xcc\x87");                  // marks in order
    CHECK(made("\xe0\xa5\x98", nfc) == "\xe0\xa4\x95\xe0\xa4\xbc");                // a composition exclusion
    CHECK(made("\xef\xac\x81 \xe2\x91\xa0", nfc) == "\xef\xac\x81 \xe2\x91\xa0");  // compatibility is not touched
    CHECK(made(std::string("a\0e\xcc\x81", 5), nfc) == std::string("a\0\xc3\xa9", 4));
}

TEST_CASE("a text with more marks in a row than any script has is left alone") {
    std::string marks;
    for (std::size_t i = 0; i < cache::most_marks; ++i) marks += i % 2 ? "\xcc\xa3" : "\xcc\x81";
    CHECK(made("a" + marks, nfc) != "a" + marks);
    CHECK(made("a" + marks + "\xcc\x81", nfc) == "a" + marks + "\xcc\x81");
    std::string many;
    for (int i = 0; i < 500'000; ++i) many += i % 2 ? "\xcc\xa3" : "\xcc\x81";
    CHECK(made(many, nfc) == many);
}

TEST_CASE("every white space of Unicode is white space, and nothing else") {
    for (const std::string& w : white) {
        CHECK(made("a" + w + "b", collapse) == "a b");
        CHECK(made(w + w + "a" + w, trim) == "a");
        CHECK(made(w, trim).empty());
    }
    for (const std::string other :
         {"\xe2\x80\x8b", "\xef\xbb\xbf", "\x1f", "\xe2\x80\x8d", "\xe1\xa0\x8e", "\xc2\xad"}) {
        CHECK(made(other + "a" + other, trim) == other + "a" + other);
        CHECK(made(other + other, collapse) == other + other);
    }
}

TEST_CASE("runs of white space are one space, and the ends stay unless trimmed") {
    CHECK(made("  a \n\n\t b\r\n", collapse) == " a b ");
    CHECK(made("  a \n\n\t b\r\n", trim) == "a \n\n\t b");
    CHECK(made("  a \n\n\t b\r\n", all) == "a b");
    CHECK(made("a b", collapse) == "a b");
    CHECK(made("", all).empty());
}

TEST_CASE("doing it twice changes nothing more") {
    CHECK(rc::check([] {
        const cache::text_rules rules{*rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>(),
                                      *rc::gen::arbitrary<bool>()};
        std::string text = any_text();
        static_cast<void>(cache::normalise(text, rules));
        std::string again = text;
        RC_ASSERT(!cache::normalise(again, rules));
        RC_ASSERT(again == text);
    }));
}

TEST_CASE("texts that differ in white space alone are one, and others stay apart") {
    CHECK(rc::check([] {
        static const std::vector<std::string> words = {"a", "b", "word", "\xc3\xa9"};
        const auto chosen = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(words)));
        std::string one = text_of(white), two = text_of(white), plain;
        for (const std::string& word : chosen) {
            one += word + *rc::gen::elementOf(white) + text_of(white);
            two += word + *rc::gen::elementOf(white) + text_of(white);
            plain += (plain.empty() ? "" : " ") + word;
        }
        constexpr cache::text_rules both{.collapse_whitespace = true, .trim = true};
        static_cast<void>(cache::normalise(one, both));
        static_cast<void>(cache::normalise(two, both));
        RC_ASSERT(one == plain);
        RC_ASSERT(two == plain);
    }));
}
