#include "cache/request/rewrite.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "cache/request/canonical.hpp"

using namespace idem;

namespace {

constexpr std::string_view prompts[] = {"/m/*/c", "/m/*/c/*/t", "/p", "/p/*"};

std::string made(std::string_view json, const std::vector<std::string>& taken_out, cache::text_rules text = {}) {
    static cache::rewriter rewriter;
    const cache::rewriting by{cache::rule_set(taken_out, text.any() ? std::span<const std::string_view>(prompts)
                                                                    : std::span<const std::string_view>()),
                              text};
    const auto out = rewriter.rewrite(json, by);
    return out ? std::string(*out) : "unchanged";
}

constexpr cache::text_rules tidy{true, true, true};

}  // namespace

TEST_CASE("members are taken out with their comma, and no other byte changes") {
    const std::vector<std::string> a = {"/a"}, ab = {"/a", "/b"};
    CHECK(made(R"({"a":1,"b":2})", a) == R"({"b":2})");
    CHECK(made(R"({"b":2,"a":1})", a) == R"({"b":2})");
    CHECK(made(R"({ "x" : 0 , "a" : [1,{"q":"]}\""}] , "b" : 2.50 })", a) == R"({ "x" : 0  , "b" : 2.50 })");
    CHECK(made(R"({"a":1})", a) == "{}");
    CHECK(made(R"({"a":1,"b":2})", ab) == "{}");
    CHECK(made(R"({"a":1,"b":2,"c":3})", ab) == R"({"c":3})");
    CHECK(made(R"({"c":3,"a":1,"b":2,"d":4})", ab) == R"({"c":3,"d":4})");
    CHECK(made(R"({"a":1,"c":3,"b":2})", ab) == R"({"c":3})");
    CHECK(made(R"({"\u0061":1,"b":"\u0061"})", a) == R"({"b":"\u0061"})");
    CHECK(made(R"({"x":{"a":1}})", a) == "unchanged");
    CHECK(made("{}", a) == "unchanged");
}

TEST_CASE("stars, any depth and escaped names") {
    CHECK(made(R"({"m":[{"n":1,"r":2},{"r":3,"n":4},5]})", {"/m/*/n"}) == R"({"m":[{"r":2},{"r":3},5]})");
    CHECK(made(R"({"m":{"x":{"n":1},"y":{"n":2,"k":3}}})", {"/m/*/n"}) == R"({"m":{"x":{},"y":{"k":3}}})");
    CHECK(made(R"({"cc":1,"a":[{"cc":{"cc":2},"b":[[{"cc":3}]]}]})", {"**/cc"}) == R"({"a":[{"b":[[{}]]}]})");
    CHECK(made(R"({"a/b":1,"~":2,"c":3})", {"/a~1b", "/~0"}) == R"({"c":3})");
    CHECK(made(R"({"a":[1,2]})", {"/a/0", "/a/*"}) == "unchanged");  // elements stay
}

TEST_CASE("prompt text is normalised where it stands, and nothing else is") {
    CHECK(made(R"({"p":"  a\n\nb "})", {}, tidy) == R"({"p":"a b"})");
    CHECK(made(R"({"p":["  a", 1, " b"]})", {}, tidy) == R"({"p":["a", 1, "b"]})");
    CHECK(made(R"({"m":[{"c":" x ","r":" x "},{"c":[{"t":"e\u0301 ","u":" "}]}]})", {}, tidy) ==
          "{\"m\":[{\"c\":\"x\",\"r\":\" x \"},{\"c\":[{\"t\":\"\xc3\xa9\",\"u\":\" \"}]}]}");
    CHECK(made(R"({"p":"caf\u00e9 \"\\ \u0000"})", {}, tidy) == "unchanged");
    CHECK(made(R"({"p":" \"\\\u0000"})", {}, tidy) == R"({"p":"\"\\\u0000"})");
    CHECK(made(R"({"q":"  a  ","p":{"x":"  "}})", {}, tidy) == R"({"q":"  a  ","p":{"x":""}})");  // * is any key, too
}

TEST_CASE("taking out and normalising meet in one body") {
    CHECK(made(R"({"a":" ","p":" x ","b":" ","m":[{"c":" y ","b":1}]})", {"/a", "**/b"}, tidy) ==
          R"({"p":"x","m":[{"c":"y"}]})");
}

TEST_CASE("what is left is the same document without those members") {
    namespace json = boost::json;
    struct maker {
        static json::value value(int depth) {
            static const std::vector<std::string> words = {"", " ", "a", "\"", "\\", "]}", "x y", "\xc3\xa9"};
            switch (*rc::gen::inRange(0, depth > 0 ? 6 : 4)) {
                case 0:
                    return nullptr;
                case 1:
                    return *rc::gen::arbitrary<bool>();
                case 2:
                    return *rc::gen::arbitrary<int>();
                case 3:
                    return json::string(*rc::gen::elementOf(words));
                case 4: {
                    json::array a;
                    for (int n = *rc::gen::inRange(0, 4); n > 0; --n) a.push_back(value(depth - 1));
                    return a;
                }
                default:
                    return object(depth - 1);
            }
        }
        static json::object object(int depth) {
            static const std::vector<std::string> keys = {"a", "cc", "b", "\"", "\\", "{", ""};
            json::object o;
            for (int n = *rc::gen::inRange(0, 5); n > 0; --n) o[*rc::gen::elementOf(keys)] = value(depth);
            return o;
        }
        static void strip(json::value& v, bool top) {
            if (v.is_array()) {
                for (json::value& e : v.as_array()) strip(e, false);
            } else if (v.is_object()) {
                v.as_object().erase("cc");
                if (top) v.as_object().erase("a");
                for (auto& m : v.as_object()) strip(m.value(), false);
            }
        }
    };
    CHECK(rc::check([] {
        json::value document = maker::object(4);
        const std::string text = json::serialize(document);
        const std::string out = made(text, {"/a", "**/cc"});
        maker::strip(document, true);
        RC_ASSERT(json::parse(out == "unchanged" ? text : out) == document);
        RC_ASSERT((out == "unchanged") == (json::parse(text) == document));
        RC_ASSERT(out == "unchanged" || made(out, {"/a", "**/cc"}) == "unchanged");
    }));
}

TEST_CASE("a deep body is walked once") {
    std::string deep = R"({"cc":)";
    for (int i = 0; i < 255; ++i) deep += R"({"x":)";
    deep += "\"" + std::string(1 << 20, ' ') + "\"" + std::string(255, '}') + R"(,"y":{"cc":1}})";
    CHECK(made(deep, {"**/cc"}) == R"({"y":{}})");
}

TEST_CASE("pointers that cannot be rules") {
    for (const std::string_view good : {"/a", "/", "/a/*/b", "**/a", "/~0~1", "/a//b", "/*"}) {
        CAPTURE(good);
        CHECK(cache::pointer_fault(good).empty());
    }
    for (const std::string_view bad : {"", "a", "a/b", "/a~", "/a~2", "/a/**/b", "/**", "**", "#/a", "**/a/**"}) {
        CAPTURE(bad);
        CHECK_FALSE(cache::pointer_fault(bad).empty());
        CHECK_THROWS(cache::rule_set(std::vector<std::string>{std::string(bad)}, {}));
    }
}
