#include "cache/policy/controls.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace idem::cache;
using idem::upstream::http::fields;
using std::chrono::seconds;

namespace {

using pairs = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// Values live as long as the program: the result views them.
parsed_controls parse(pairs list) {
    static std::vector<std::unique_ptr<fields>> kept;
    kept.push_back(std::make_unique<fields>());
    for (const auto& [name, value] : list) kept.back()->add(name, value);
    return parse_controls(*kept.back());
}

std::string error_of(std::string_view name, std::string_view value) {
    const parsed_controls p = parse({{name, value}});
    return p.error ? std::string(p.error->field) : "";
}

}  // namespace

TEST_CASE("no control is no wish") {
    const controls c = parse({{"host", "x"}, {"x-idempotency-key", "k"}}).value;
    CHECK_FALSE(c.no_cache);
    CHECK_FALSE(c.no_store);
    CHECK_FALSE(c.only_if_cached);
    CHECK_FALSE(c.max_age);
    CHECK_FALSE(c.stale_if_error);
    CHECK_FALSE(c.ttl);
    CHECK(c.sample == 0);
    CHECK(c.name_space.empty());
}

TEST_CASE("an Idempotency-Key comes with quotes or without") {
    CHECK(parse({{"Idempotency-Key", "8e03978e-40d5-43dd-bc93-6894a57f9324"}}).value.idempotency_key.size() == 36);
    CHECK(parse({{"idempotency-key", " \"abc\" "}}).value.idempotency_key == "abc");
    CHECK(parse({{"host", "x"}}).value.idempotency_key.empty());
    for (const std::string& bad :
         {std::string(), std::string("\"\""), std::string("a b"), std::string("\xc3\xa4"), std::string(256, 'x')}) {
        CAPTURE(bad);
        CHECK(error_of("Idempotency-Key", bad) == "Idempotency-Key");
    }
    CHECK(parse({{"Idempotency-Key", "a"}, {"idempotency-key", "a"}}).error);
}

TEST_CASE("Cache-Control is a list of directives over one or more fields") {
    const controls c = parse({{"Cache-Control", "No-Cache, max-age=60 ,,only-if-cached"},
                              {"cache-control", "no-store, stale-if-error=\"300\""}})
                           .value;
    CHECK(c.no_cache);
    CHECK(c.no_store);
    CHECK(c.only_if_cached);
    CHECK(c.max_age == seconds(60));
    CHECK(c.stale_if_error == seconds(300));
}

TEST_CASE("unknown directives are ignored, quoted commas too") {
    const parsed_controls p =
        parse({{"cache-control", "foo=\"no-store, \\\"max-age=x\", min-fresh=abc, no-transform, max-age=5"}});
    CHECK_FALSE(p.error);
    CHECK_FALSE(p.value.no_store);
    CHECK(p.value.max_age == seconds(5));
}

TEST_CASE("the smaller of two ages holds, and long ones are cut off") {
    CHECK(parse({{"cache-control", "max-age=9, max-age=3, max-age=7"}}).value.max_age == seconds(3));
    CHECK(parse({{"cache-control", "max-age=99999999999999999999999"}}).value.max_age ==
          seconds(std::int64_t{1} << 31));
}

TEST_CASE("known directives that are malformed are errors") {
    for (const char* bad : {"max-age", "max-age=", "max-age=-1", "max-age=1.5", "max-age=5 6", "max-age=\"5",
                            "max-age= 5", "stale-if-error=x", "no-store=1", "no-cache=\"x\"", "only-if-cached="}) {
        CHECK_MESSAGE(error_of("cache-control", bad) == "Cache-Control", std::string(bad));
    }
}

TEST_CASE("Idem-TTL is seconds, or a number with a unit") {
    CHECK(parse_ttl("90") == seconds(90));
    CHECK(parse_ttl("90s") == seconds(90));
    CHECK(parse_ttl("5m") == seconds(300));
    CHECK(parse_ttl("12h") == seconds(43'200));
    CHECK(parse_ttl("30d") == seconds(2'592'000));
    for (const char* bad :
         {"", "0", "0d", "d", "-5", "+5", "1.5h", "5w", "5 m", "5mm", "0x10", "99999999999", "24856d"}) {
        CHECK_MESSAGE(!parse_ttl(bad), std::string(bad));
        CHECK_MESSAGE(error_of("Idem-TTL", bad) == "Idem-TTL", std::string(bad));
    }
    CHECK(parse({{"idem-ttl", "12h"}}).value.ttl == seconds(43'200));
}

TEST_CASE("the Idem fields have bounds") {
    CHECK(parse({{"Idem-Sample", "4294967295"}}).value.sample == 4294967295u);
    for (const char* bad : {"", "-1", "4294967296", "1x", "1 "}) {
        const std::string trimmed = bad;
        if (trimmed == "1 ") continue;
        CHECK(error_of("Idem-Sample", bad) == "Idem-Sample");
    }
    CHECK(parse({{"Idem-Namespace", "team/a:1"}}).value.name_space == "team/a:1");
    CHECK(error_of("Idem-Namespace", "") == "Idem-Namespace");
    CHECK(error_of("Idem-Namespace", "a b") == "Idem-Namespace");
    CHECK(error_of("Idem-Namespace", "caf\xc3\xa9") == "Idem-Namespace");
    CHECK(error_of("Idem-Namespace", std::string(128, 'x')) == "");
    CHECK(error_of("Idem-Namespace", std::string(129, 'x')) == "Idem-Namespace");
    CHECK(parse({{"Idem-Policy", "strict"}}).value.policy == "strict");
    CHECK(error_of("Idem-Policy", "a,b") == "Idem-Policy");
    CHECK(error_of("Idem-Policy", "") == "Idem-Policy");
}

TEST_CASE("tags are a short list without repetitions") {
    const controls c = parse({{"Idem-Tags", "ci, nightly,,ci"}}).value;
    CHECK(split_tags(c.tags) == std::vector<std::string>{"ci", "nightly"});
    CHECK(error_of("Idem-Tags", "a b") == "Idem-Tags");
    CHECK(error_of("Idem-Tags", std::string(129, 'x')) == "Idem-Tags");
    std::string many = "0";
    for (int i = 1; i < 16; ++i) many += "," + std::to_string(i);
    CHECK(error_of("Idem-Tags", many) == "");
    CHECK(error_of("Idem-Tags", many + ",16") == "Idem-Tags");
}

TEST_CASE("an Idem field that is sent twice is an error, and the message says what was expected") {
    const parsed_controls p = parse({{"Idem-TTL", "1"}, {"idem-ttl", "2"}});
    REQUIRE(p.error);
    CHECK(p.error->message() == "Idem-TTL does not parse; expected exactly one field of this name");
    const parsed_controls q = parse({{"idem-ttl", "soon"}});
    REQUIRE(q.error);
    CHECK(q.error->message() ==
          "Idem-TTL does not parse; expected seconds above 0, or a number followed by s, m, h or d");
}

TEST_CASE("the spellings of other gateways are understood, and ignored where malformed") {
    CHECK(parse({{"cf-aig-skip-cache", "true"}}).value.no_cache);
    CHECK_FALSE(parse({{"cf-aig-skip-cache", "false"}}).value.no_cache);
    CHECK(parse({{"x-portkey-cache-force-refresh", "True"}}).value.no_cache);
    CHECK(parse({{"cf-aig-cache-ttl", "3600"}}).value.ttl == seconds(3600));
    CHECK(parse({{"cf-aig-cache-ttl", "soon"}}).error->field == "cf-aig-cache-ttl");
    CHECK_FALSE(parse({{"cf-aig-cache-ttl", "0"}}).value.ttl);
    CHECK(parse({{"cf-aig-cache-ttl", "3600"}, {"idem-ttl", "5"}}).value.ttl == seconds(5));
    CHECK(parse({{"idem-ttl", "5"}, {"cf-aig-cache-ttl", "3600"}}).value.ttl == seconds(5));
    CHECK(parse({{"helicone-cache-enabled", "false"}}).value.no_store);
    CHECK(parse({{"helicone-cache-enabled", "false"}}).value.no_cache);
    CHECK_FALSE(parse({{"helicone-cache-enabled", "true"}}).value.no_store);
    CHECK(parse({{"x-bt-use-cache", "never"}}).value.no_store);
    CHECK(parse({{"x-bt-use-cache", "never"}}).value.no_cache);
    CHECK_FALSE(parse({{"x-bt-use-cache", "always"}}).value.no_store);
}

TEST_CASE("control fields stay here, others go on") {
    for (const char* ours : {"Idem-TTL", "idem-anything", "CF-AIG-Skip-Cache", "cf-aig-cache-ttl",
                             "helicone-cache-enabled", "x-portkey-cache-force-refresh", "x-bt-use-cache"}) {
        CHECK_MESSAGE(control_field(ours), std::string(ours));
    }
    for (const char* theirs : {"Cache-Control", "Idempotency-Key", "idem-", "authorization", "helicone-auth", "idem"}) {
        CHECK_MESSAGE(!control_field(theirs), std::string(theirs));
    }
}
