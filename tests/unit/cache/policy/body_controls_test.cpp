#include "cache/policy/body_controls.hpp"

#include <doctest/doctest.h>

using namespace idem;
using std::chrono::seconds;

namespace {

cache::body_controls read(std::string_view json) {
    const auto parsed = cache::parse_body_controls(json);
    CHECK_MESSAGE(!parsed.error, json);
    return parsed.value;
}

std::string fault(std::string_view json) {
    const auto parsed = cache::parse_body_controls(json);
    return parsed.error ? parsed.error->message() : "";
}

}  // namespace

TEST_CASE("LiteLLM's members mean what our fields mean") {
    CHECK(read(R"({"no-cache":true})").no_cache);
    CHECK_FALSE(read(R"({"no-cache":false})").no_cache);
    CHECK(read(R"({"no-store": true})").no_store);
    CHECK(read(R"({"ttl":60})").ttl == seconds(60));
    CHECK(read(R"({"ttl":60.0})").ttl == seconds(60));
    CHECK(read(R"({"s-maxage":0})").max_age == seconds(0));
    CHECK(read(R"({"s-max-age":7,"s-maxage":9})").max_age == seconds(7));
    CHECK(read(R"({"namespace":"x\u002dy"})").name_space == "x-y");
    CHECK(read(R"({"ttl":1e300})").ttl == seconds(std::int64_t{1} << 31));
    const auto off = read(R"({"use-cache":false})");
    CHECK(off.no_cache);
    CHECK(off.no_store);
    CHECK_FALSE(read(R"({"use-cache":true})").no_cache);
}

TEST_CASE("nothing, null and what is not known change nothing") {
    for (const std::string_view json : {"", "{}", R"({"type":"exact_match","ttl":null,"no-cache":null,"x":[1]})"}) {
        const auto c = read(json);
        CHECK_FALSE(c.no_cache);
        CHECK_FALSE(c.no_store);
        CHECK_FALSE(c.ttl);
        CHECK_FALSE(c.max_age);
        CHECK(c.name_space.empty());
    }
}

TEST_CASE("a known member that is malformed is named") {
    CHECK(fault("true") == R"(cache does not parse; expected an object such as {"no-cache": true})");
    CHECK(fault(R"({"no-cache":"yes"})") == "cache.no-cache does not parse; expected true or false");
    CHECK(fault(R"({"no-store":1})") == "cache.no-store does not parse; expected true or false");
    CHECK(fault(R"({"use-cache":"x"})").starts_with("cache.use-cache"));
    for (const std::string_view ttl : {"0", "-1", "1.5", "\"60\"", "[]", "true"})
        CHECK(fault(std::string(R"({"ttl":)") + std::string(ttl) + "}").starts_with("cache.ttl does not parse"));
    CHECK(fault(R"({"s-maxage":-1})").starts_with("cache.s-maxage"));
    CHECK(fault(R"({"s-max-age":"1"})").starts_with("cache.s-max-age"));
    for (const std::string_view name : {"\"\"", "\"a b\"", "7", R"("\u00e9")"})
        CHECK(fault(std::string(R"({"namespace":)") + std::string(name) + "}").starts_with("cache.namespace"));
    CHECK(fault(R"({"namespace":")" + std::string(129, 'x') + "\"}").starts_with("cache.namespace"));
}

TEST_CASE("body and fields add up, and a field's lifetime holds") {
    cache::controls c;
    c.ttl = seconds(5);
    c.max_age = seconds(10);
    cache::add(c, read(R"({"no-cache":true,"ttl":60,"s-maxage":3})"));
    CHECK(c.no_cache);
    CHECK_FALSE(c.no_store);
    CHECK(c.ttl == seconds(5));
    CHECK(c.max_age == seconds(3));
    cache::controls none;
    cache::add(none, read(R"({"no-store":true,"ttl":60,"s-maxage":30})"));
    CHECK(none.no_store);
    CHECK(none.ttl == seconds(60));
    CHECK(none.max_age == seconds(30));
}
