#include "cache/request/canonical.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace idem;
using cache::canonicalizer;

namespace {

constexpr std::string_view ignored[] = {"/user", "/metadata", "/messages/*/content/*/x", "**/cache_control"};
constexpr std::string_view kept[] = {"/tools/*/parameters", "/schema", "/kept_list/*"};
constexpr upstream::dialect::body_rules rules{ignored, kept};

// The canonical form, or the reason in angle brackets.
std::string canonical(std::string_view json) {
    static canonicalizer c;
    const cache::canonical_form form = c.canonicalize(json, rules);
    if (form.why == reason::none) return std::string(form.text);
    CHECK(form.text.empty());
    return "<" + std::string(to_string(form.why)) + ">";
}

}  // namespace

TEST_CASE("white space, key order and escapes do not matter") {
    CHECK(canonical(R"( { "b" : [ 1 , 2 ] , "a" : { } , "c" : [ ] } )"
                    "\r\n\t") == R"({"a":{},"b":[1,2],"c":[]})");
    CHECK(canonical(R"({"a":"\u0041\/\u00e9\ud83d\ude02"})") == "{\"a\":\"A/\xc3\xa9\xf0\x9f\x98\x82\"}");
    CHECK(canonical(R"({"a":"\u0008\u0009\u000a\u000C\u000d\u0022\u005c\u0000\u001F\u007f"})") ==
          "{\"a\":\"\\b\\t\\n\\f\\r\\\"\\\\\\u0000\\u001f\x7f\"}");
    CHECK(canonical(R"({"m\u006fdel":1})") == R"({"model":1})");
    CHECK(canonical("{}") == "{}");
}

TEST_CASE("objects are sorted at every level") {
    CHECK(canonical(R"({"z":{"b":{"d":1,"c":2},"a":3},"y":[{"b":1,"a":2},{"d":{"f":1,"e":2},"c":0}],"x":0})") ==
          R"({"x":0,"y":[{"a":2,"b":1},{"c":0,"d":{"e":2,"f":1}}],"z":{"a":3,"b":{"c":2,"d":1}}})");
    CHECK(canonical(R"({"a":{"y":{"q":1,"p":2},"x":3},"b":{"n":1,"m":[{"l":1,"k":2}]}})") ==
          R"({"a":{"x":3,"y":{"p":2,"q":1}},"b":{"m":[{"k":2,"l":1}],"n":1}})");
}

TEST_CASE("keys are sorted by code point, not by UTF-16 code unit as in RFC 8785") {
    // U+FB33 comes before U+1F602; in UTF-16 the surrogate 0xD83D would come first.
    CHECK(canonical("{\"\xf0\x9f\x98\x82\":1,\"\xef\xac\xb3\":2}") == "{\"\xef\xac\xb3\":2,\"\xf0\x9f\x98\x82\":1}");
    // Decoded keys are compared: the newline sorts before the letter although its escape begins with a backslash.
    CHECK(canonical(R"({"A":1,"\n":2,"":3})") == R"({"":3,"\n":2,"A":1})");
}

TEST_CASE("top-level null equals absent, null elsewhere counts") {
    CHECK(canonical(R"({"a":null,"b":1,"c":null})") == R"({"b":1})");
    CHECK(canonical(R"({"z":null})") == "{}");
    CHECK(canonical(R"({"a":{"b":null},"c":[null]})") == R"({"a":{"b":null},"c":[null]})");
}

TEST_CASE("ignored members leave no trace") {
    CHECK(canonical(R"({"user":"me","a":1,"metadata":{"z":[1,{"b":1,"a":2}],"c":{}}})") == R"({"a":1})");
    CHECK(canonical(R"({"user":{"b":{"d":1,"c":2},"a":1}})") == "{}");
    CHECK(canonical(R"({"messages":[{"content":[{"x":1,"type":"text"},{"x":{"b":1,"a":1}}]},{"x":2}]})") ==
          R"({"messages":[{"content":[{"type":"text"},{}]},{"x":2}]})");
    CHECK(canonical(R"({"a":[{"cache_control":{"b":1,"a":2},"t":1}],"cache_control":0})") == R"({"a":[{"t":1}]})");
    CHECK(canonical(R"({"c":{"z":{"b":1,"a":2}},"user":{"d":{"b":1,"a":2},"c":1},"b":{"y":1,"x":2}})") ==
          R"({"b":{"x":2,"y":1},"c":{"z":{"a":2,"b":1}}})");
}

TEST_CASE("unknown fields and absent against default count") {
    CHECK(canonical(R"({"a":1})") != canonical(R"({"a":1,"future_field":0})"));
    CHECK(canonical(R"({"a":1})") != canonical(R"({"a":1,"temperature":1})"));
    CHECK(canonical(R"({"a":"x"})") != canonical(R"({"a":["x"]})"));
    CHECK(canonical("{\"a\":\"\xc3\xa9\"}") != canonical("{\"a\":\"e\xcc\x81\"}"));  // no Unicode normalisation
    CHECK(canonical(R"({"a":" x"})") != canonical(R"({"a":"x"})"));
}

TEST_CASE("key order is kept where it reaches the model") {
    CHECK(canonical(R"({"tools":[{"parameters":{"b":{"y":1.0,"x":"\u0041"},"a":2},"name":"n"}]})") ==
          R"({"tools":[{"name":"n","parameters":{"b":{"y":1,"x":"A"},"a":2}}]})");
    CHECK(canonical(R"({"schema":[{"b":1,"a":2}],"a":{"b":1,"a":2}})") ==
          R"({"a":{"a":2,"b":1},"schema":[{"b":1,"a":2}]})");
    CHECK(canonical(R"({"kept_list":[{"b":1,"a":2}]})") == R"({"kept_list":[{"b":1,"a":2}]})");
    CHECK(canonical(R"({"schema":{"a":1,"b":2}})") != canonical(R"({"schema":{"b":2,"a":1}})"));
}

TEST_CASE("nothing is ignored below an order-kept value, for it reaches the model as it is") {
    CHECK(canonical(R"({"tools":[{"cache_control":1,"parameters":{"cache_control":2}}]})") ==
          R"({"tools":[{"parameters":{"cache_control":2}}]})");
    CHECK(canonical(R"({"schema":{"b":null,"a":null}})") == R"({"schema":{"b":null,"a":null}})");
}

TEST_CASE("duplicate keys are refused wherever they stand") {
    CHECK(canonical(R"({"a":1,"a":1})") == "<body_duplicate_key>");
    CHECK(canonical(R"({"a":1,"b":2,"\u0061":3})") == "<body_duplicate_key>");
    CHECK(canonical(R"({"x":[{"k":1,"j":2,"k":3}]})") == "<body_duplicate_key>");
    CHECK(canonical(R"({"schema":{"b":1,"a":2,"b":3}})") == "<body_duplicate_key>");
    CHECK(canonical(R"({"user":1,"user":2})") == "<body_duplicate_key>");
    CHECK(canonical(R"({"n":null,"a":0,"n":1})") == "<body_duplicate_key>");
    CHECK(canonical(R"({"user":{"b":1,"a":2,"b":3}})") == "<body_duplicate_key>");
    CHECK(canonical(R"({"a":{"k":1},"b":{"k":1}})") == R"({"a":{"k":1},"b":{"k":1}})");
}

TEST_CASE("long objects are sorted and checked like short ones") {
    std::string forth = "{", back = "{";
    for (int i = 0; i < 100; ++i) {
        forth += (i ? ",\"k" : "\"k") + std::to_string(100 + i) + "\":1";
        back += (i ? ",\"k" : "\"k") + std::to_string(199 - i) + "\":1";
    }
    CHECK(canonical(back + "}") == forth + "}");
    CHECK(canonical(back + ",\"k150\":1}") == "<body_duplicate_key>");
}

TEST_CASE("text that is not a JSON object is refused") {
    for (const char* bad : {"",
                            " ",
                            "null",
                            "[]",
                            "\"a\"",
                            "1",
                            "{",
                            "}",
                            "{]",
                            "{}}",
                            "{} x",
                            "{}{}",
                            "{\"a\"}",
                            "{\"a\":}",
                            "{\"a\":1,}",
                            "{,}",
                            "{\"a\":1 \"b\":2}",
                            "{\"a\":[1,]}",
                            "{\"a\":[,1]}",
                            "{\"a\":[1 2]}",
                            "{\"a\":[1}",
                            "{\"a\":[1,2",
                            "{\"a\":tru}",
                            "{\"a\":nulll}",
                            "{\"a\":True}",
                            "{\"a\":\"",
                            "{\"a\":\"\\",
                            "{\"a\":\"\\x\"}",
                            "{\"a\":\"\\u12\"}",
                            "{\"a\":\"\\u12g4\"}",
                            "{\"a\":\"\n\"}",
                            "{\"a\":'b'}",
                            "{a:1}",
                            "{\"a\":01}",
                            "{\"a\":1.}",
                            "{\"a\":-}",
                            "{\"a\":+1}",
                            "{\"a\":NaN}",
                            "{\"a\"::1}",
                            "{\"a\":1}//",
                            "/**/{}",
                            "\xef\xbb\xbf{}"}) {
        CHECK_MESSAGE(canonical(bad) == "<body_not_json>", std::string(bad));
    }
    CHECK(canonical(std::string_view("{}\0", 3)) == "<body_not_json>");
    CHECK(canonical(std::string_view("{\"a\":\"\0\"}", 9)) == "<body_not_json>");
    CHECK(canonical(std::string_view("{\0}", 3)) == "<body_not_json>");
}

TEST_CASE("text that is not Unicode is refused") {
    CHECK(canonical("{\"a\":\"\xff\"}") == "<body_invalid_utf8>");
    CHECK(canonical("{\"a\":\"\xc0\xaf\"}") == "<body_invalid_utf8>");
    CHECK(canonical("{\"a\":\"\xed\xa0\x80\"}") == "<body_invalid_utf8>");
    for (const char* lone :
         {R"({"a":"\ud800"})", R"({"a":"\udc00"})", R"({"a":"\ud800\ud800"})", R"({"a":"\ud800x"})",
          R"({"a":"\ud800\n"})", R"({"\udead":1})", R"({"a":"\ude02\ud83d"})", R"({"a":"\ud83d\u)"}) {
        CHECK_MESSAGE(canonical(lone) == "<body_invalid_utf8>", std::string(lone));
    }
}

TEST_CASE("numbers that are not finite are refused") {
    CHECK(canonical(R"({"a":1e400})") == "<body_number_range>");
    CHECK(canonical(R"({"schema":{"maximum":-1e400}})") == "<body_number_range>");
    CHECK(canonical(R"({"a":1e-400})") == R"({"a":0})");
}

TEST_CASE("depth is bounded at 256") {
    const auto nested = [](std::size_t levels) {
        return R"({"a":)" + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
    };
    CHECK(canonical(nested(256)) == nested(256));
    CHECK(canonical(nested(257)) == "<body_too_deep>");
}

TEST_CASE("an object moves between calls and rules") {
    canonicalizer c;
    canonicalizer d = std::move(c);
    CHECK(d.canonicalize(R"({"user":1,"a":2})", rules).text == R"({"a":2})");
    CHECK(d.canonicalize(R"({"user":1,"a":2})", {}).text == R"({"a":2,"user":1})");
    CHECK(d.canonicalize(R"({"user":1,"a":2})", cache::rule_set(rules)).text == R"({"a":2})");
}

TEST_CASE("numbers that grow never run over the buffer") {
    std::string body = R"({"a":[)";
    std::string wanted = R"({"a":[)";
    for (int i = 0; i < 5000; ++i) {
        body += i ? ",1e15" : "1e15";
        wanted += i ? ",1000000000000000" : "1000000000000000";
    }
    CHECK(canonical(body + "]}") == wanted + "]}");
}
