// Rules enforced on bodies: each rule of each engine is seen to inject, to accept what means the same, and to conflict
// by name, and all bytes that no rule speaks of stay as they were.
#include "cache/request/enforce.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "cache/request/canonical.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/engine/profile.hpp"

using namespace idem;
using cache::enforcement;
using cache::enforcer;
using cache::on_conflict;
using upstream::engine::request_rule;
using kind = request_rule::kind;
using under = request_rule::under;

namespace {

struct outcome_of {
    std::string text;
    std::vector<cache::conflict> conflicts;
    bool beyond_help = false;
};

outcome_of enforce(std::string_view json, const enforcement& by, on_conflict how = on_conflict::reject) {
    enforcer e;
    auto r = e.enforce(json, by, how);
    return {std::string(r.text.value_or(json)), std::move(r.conflicts), r.beyond_help};
}

enforcement one(const request_rule& rule, bool loose = false) {
    return {std::span(&rule, 1), rule.when == under::both ? under::strict : rule.when, loose};
}

// A body with `value` where the rule looks.
std::string body_with(std::string_view at, std::string_view value) {
    const std::string_view path = at.substr(1);
    const std::size_t slash = path.find('/');
    const std::string inner =
        "\"" + std::string(path.substr(slash == path.npos ? 0 : slash + 1)) + "\": " + std::string(value);
    const std::string member =
        slash == path.npos ? inner : "\"" + std::string(path.substr(0, slash)) + "\":{ " + inner + " }";
    return R"({ "model" : "m\u0041", )" + member + R"( , "x": [1, {"temperature": 5}]})";
}

std::string field_of(std::string_view at) {
    std::string out(at.substr(1));
    std::ranges::replace(out, '/', '.');
    return out;
}

// Some value that no rule takes.
std::string_view strange(const request_rule& rule) {
    if (rule.is == kind::single) return R"(["a","b"])";
    if (rule.is == kind::apart) return "0.005";
    if (rule.is == kind::supply) return "1.5";
    if (rule.is == kind::turns) return "[]";
    return rule.value == "false" ? "true" : "7";
}

void walk(const request_rule& rule, bool loose) {
    CAPTURE(rule.at);
    const enforcement by = one(rule, loose);
    const bool writes = !rule.value.empty() && rule.is != kind::apart;
    const std::string bare = R"({"model":"m"})";
    const outcome_of absent = enforce(bare, by);
    CHECK(absent.conflicts.empty());
    CHECK((absent.text != bare) == writes);
    if (writes) {
        CHECK(absent.text.find(std::string(rule.value)) != std::string::npos);
        CHECK(upstream::dialect::is_json(absent.text));
        CHECK(enforce(absent.text, by).text == absent.text);
        CHECK(enforce(body_with(rule.at, "null"), by).text == body_with(rule.at, rule.value));
        CHECK(enforce(body_with(rule.at, rule.value), by).text == body_with(rule.at, rule.value));
    }
    for (const std::string_view same : rule.same) {
        if (same.empty() || rule.is == kind::supply) continue;
        const outcome_of r = enforce(body_with(rule.at, same), by);
        CHECK(r.conflicts.empty());
        CHECK(r.text == body_with(rule.at, rule.is == kind::forbid ? same : rule.value));
    }
    const std::string_view other = strange(rule);
    if (other.empty()) return;  // takes any value of the client's own
    const std::string body = body_with(rule.at, other);
    const outcome_of rejected = enforce(body, by);
    REQUIRE(rejected.conflicts.size() == 1);
    CHECK(rejected.conflicts.front().field == field_of(rule.at));
    CHECK(rejected.conflicts.front().value == other);
    CHECK_FALSE(rejected.conflicts.front().expected.empty());
    const outcome_of allowed = enforce(body, by, on_conflict::allow);
    CHECK(allowed.text == body);
    CHECK(allowed.conflicts.size() == 1);
    const outcome_of overridden = enforce(body, by, on_conflict::override_value);
    CHECK(overridden.conflicts.size() == 1);
    const bool helpless = rule.is == kind::single || rule.is == kind::turns;
    CHECK(overridden.beyond_help == helpless);
    CHECK(upstream::dialect::is_json(overridden.text));
    if (helpless) {
        CHECK(overridden.text == body);
    } else if (!rule.value.empty()) {
        CHECK(overridden.text == body_with(rule.at, rule.value));
    } else {
        CHECK(overridden.text.find(std::string(rule.at.substr(rule.at.rfind('/') + 1)) + "\":") == std::string::npos);
    }
}

}  // namespace

TEST_CASE("every rule of every engine injects, accepts its equals, and conflicts by name in three modes") {
    std::size_t rules = 0;
    for (const upstream::engine::profile* p : upstream::engine::all()) {
        for (const upstream::engine::request_form& f : p->requests) {
            for (const request_rule& rule : f.rules) {
                CAPTURE(p->name);
                walk(rule, f.loose_names);
                ++rules;
            }
        }
    }
    CHECK(rules > 80);
}

TEST_CASE("a seed of the client's own is an integer that the engine reads whole") {
    std::size_t seeds = 0;
    for (const upstream::engine::profile* p : upstream::engine::all()) {
        for (const upstream::engine::request_form& f : p->requests) {
            CAPTURE(p->name);
            if (f.seed.empty()) continue;
            for (const auto when : {under::seeded, under::strict}) {
                if (when == under::strict && !f.strict) continue;
                const enforcement by(f.rules, when, f.loose_names);
                const auto conflicts = [&](std::string_view value) {
                    const outcome_of r = enforce(body_with(f.seed, value), by);
                    return std::ranges::count(r.conflicts, field_of(f.seed), &cache::conflict::field);
                };
                for (const auto* wrong :
                     {R"("1")", R"("-1")", "true", "false", "[1]", "{}", R"("x")", "1.5", "1.0", "1e3",
                      "18446744073709551616", "9223372036854775808", "-9223372036854775809", "NaN"}) {
                    CAPTURE(wrong);
                    CHECK(conflicts(wrong) == 1);
                }
                for (const auto* right : {"1", "7", "2147483647", "null"}) CHECK(conflicts(right) == 0);
                ++seeds;
            }
        }
    }
    CHECK(seeds >= 14);
    const upstream::engine::request_form& llamacpp = upstream::engine::llamacpp.requests.front();
    for (const auto* wrapped : {"8589934591", "4294967296", "-1", "-2", "4294967295"})
        CHECK(enforce(body_with("/seed", wrapped), {llamacpp.rules, under::seeded, false}).conflicts.size() == 1);
}

TEST_CASE("what is not a number is not in a range") {
    const request_rule apart{.at = "/temperature", .is = kind::apart, .value = "0.01", .same_below = 1e-5};
    for (const auto* value : {R"("0.005")", R"("0.7")", "true", "[0.7]", "{}"})
        CHECK(enforce(body_with("/temperature", value), one(apart)).conflicts.size() == 1);
    for (const auto* value : {"0.7", "0", "2", "0.01", "null"})
        CHECK(enforce(body_with("/temperature", value), one(apart)).conflicts.empty());
}

TEST_CASE("one input is a text or one list of token ids") {
    const request_rule single{.at = "/prompt", .is = kind::single};
    for (const auto* good : {R"("a")", R"("")", "[1,2,3]", "[ 0 ]", R"(["a"])", "[[1,2]]"})
        CHECK(enforce(body_with("/prompt", good), one(single)).conflicts.empty());
    for (const auto* bad : {"[]", "[[]]", "null", "{}", "[1.5,2]", "[1,-2]", "true", "5", R"(["a","b"])", "[[1],[2]]",
                            R"([1,"a"])", "[[[1]]]", "[null]", R"([["a"]])", R"([[1],"a"])", "[1e2]"}) {
        CAPTURE(bad);
        CHECK(enforce(body_with("/prompt", bad), one(single)).conflicts.size() == 1);
    }
    const request_rule turns{.at = "/messages", .is = kind::turns};
    CHECK(enforce(body_with("/messages", R"([{"role":"user"}])"), one(turns)).conflicts.empty());
    for (const auto* bad : {"[]", "null", "{}", R"("hi")", R"([{}, "hi"])", "[[]]", "[null]", "7"})
        CHECK(enforce(body_with("/messages", bad), one(turns)).conflicts.size() == 1);
}

TEST_CASE("other spellings of a value are that value") {
    const request_rule zero{.at = "/temperature", .is = kind::set, .value = "0", .same_below = 1e-5};
    for (const auto* value : {"0", "0.0", "-0", "0e5", "-0.0"}) {
        CAPTURE(value);
        const outcome_of r = enforce(body_with("/temperature", value), one(zero));
        CHECK(r.conflicts.empty());
        CHECK(r.text == body_with("/temperature", value));  // the key spells all of them 0
    }
    for (const auto* value : {"1e-7", "0.000009", "9.99e-6"})
        CHECK(enforce(body_with("/temperature", value), one(zero)).text == body_with("/temperature", "0"));
    for (const auto* value : {"1e-5", "0.7", "-1", "\"0\"", "true", "[0]", "{}", "2"})
        CHECK(enforce(body_with("/temperature", value), one(zero)).conflicts.size() == 1);
    const request_rule list{.at = "/samplers", .is = kind::forbid, .same = {R"(["temperature"])"}};
    CHECK(enforce(R"({"samplers":[ "temperature" ]})", one(list)).conflicts.empty());
    CHECK(enforce(R"({"samplers":["top_k"]})", one(list)).conflicts.size() == 1);
    CHECK(enforce(R"({"samplers":["temperature","top_k"]})", one(list)).conflicts.size() == 1);
}

TEST_CASE("names are found however they are escaped, and folded only where the server folds them") {
    const request_rule n{.at = "/options/seed", .is = kind::set, .value = "1"};
    CHECK(enforce(R"({"opt\u0069ons":{"s\u0065ed":2}})", one(n)).conflicts.front().field == "options.seed");
    CHECK(enforce(R"({"Options":{"Seed":2}})", one(n)).conflicts.empty());
    CHECK(enforce(R"({"Options":{"Se_ed":2}})", one(n, true)).conflicts.size() == 1);
    CHECK(enforce(R"({"optionss":{"seed":2},"option":{"seed":3}})", one(n, true)).conflicts.empty());
}

TEST_CASE("what rules look into is made where it is not there, and is no list") {
    const request_rule n{.at = "/sampling_params/n", .is = kind::set, .value = "1"};
    CHECK(enforce("{}", one(n)).text == R"({"sampling_params":{"n":1}})");
    CHECK(enforce(R"({"sampling_params":{}})", one(n)).text == R"({"sampling_params":{"n":1}})");
    CHECK(enforce(R"({"sampling_params":null,"a":1})", one(n)).text == R"({"sampling_params":{"n":1},"a":1})");
    const auto list = enforce(R"({"sampling_params":[{"n":2}]})", one(n));
    REQUIRE(list.conflicts.size() == 1);
    CHECK(list.conflicts.front().field == "sampling_params");
    CHECK(enforce(R"({"sampling_params":[{"n":2}]})", one(n), on_conflict::override_value).text ==
          R"({"sampling_params":{"n":1}})");
}

TEST_CASE("members that go take one comma with them") {
    const request_rule rules[] = {{.at = "/a", .is = kind::forbid},
                                  {.at = "/b", .is = kind::forbid},
                                  {.at = "/c", .is = kind::set, .value = "1"}};
    const enforcement by(rules, under::strict, false);
    const auto over = [&](std::string_view json) { return enforce(json, by, on_conflict::override_value).text; };
    CHECK(over(R"({"a":1})") == R"({"c":1})");
    CHECK(over(R"( { "a" : 1 , "b" : 2 } )") == R"( { "c":1 } )");
    CHECK(over(R"({"a":1,"b":2,"x":3})") == R"({"x":3,"c":1})");
    CHECK(over(R"({"x":3,"a":1,"b":2})") == R"({"x":3,"c":1})");
    CHECK(over(R"({"x":3,"a":1,"y":4,"b":2,"c":9})") == R"({"x":3,"y":4,"c":1})");
    CHECK(over(R"({"a":1,"c":0,"b":2})") == R"({"c":1})");
}

TEST_CASE("a model gets its other name and nothing else changes") {
    enforcement by;
    CHECK(by.idle());
    by.rename_model("Qwen/\"8B\"");
    CHECK_FALSE(by.idle());
    CHECK(enforce(R"({"a":{"model":"m"}, "model" : "m"})", by).text ==
          R"({"a":{"model":"m"}, "model" : "Qwen/\"8B\""})");
    CHECK(enforce(R"({"model":7})", by).text == R"({"model":7})");
    CHECK(enforce("{}", by).text == "{}");
}

TEST_CASE("a member is set, and one that is there may stay") {
    using cache::with_member;
    CHECK(with_member(R"({"a":1})", "/seed", "7", true, false) == R"({"a":1,"seed":7})");
    CHECK(with_member(R"({"seed":1})", "/seed", "7", true, false) == R"({"seed":1})");
    CHECK(with_member(R"({"seed":null})", "/seed", "7", true, false) == R"({"seed":7})");
    CHECK(with_member(R"({"cache_salt":"x"})", "/cache_salt", "\"y\"", false, false) == R"({"cache_salt":"y"})");
    CHECK(with_member(R"({"generation_config":{}})", "/generationConfig/seed", "7", true, true) ==
          R"({"generation_config":{"seed":7}})");
}

TEST_CASE("whatever a body holds, the result is JSON, keeps the rules, and is left alone the second time") {
    rc::check([] {
        const auto& engines = upstream::engine::all();
        const auto& p =
            **rc::gen::elementOf(std::vector<const upstream::engine::profile*>(engines.begin(), engines.end()));
        if (p.requests.empty()) return;
        const auto& f = p.requests.front();
        const auto when = *rc::gen::element(under::strict, under::seeded);
        std::string body = "{";
        const auto add = [&body](std::string_view name, std::string_view value) {
            body.append(body.size() > 1 ? " ,\"" : "\"").append(name).append("\":").append(value);
        };
        for (const request_rule& r : f.rules) {
            const std::string_view name = r.at.substr(1);
            if (name.find('/') != name.npos || body.find("\"" + std::string(name) + "\"") != body.npos) continue;
            if (*rc::gen::arbitrary<bool>())
                add(name, *rc::gen::element<std::string>("0", "-1", "0.7", "null", "\"x\\\"\"", "[1,2]", "{\"a\": 1}"));
            if (*rc::gen::arbitrary<bool>()) add("y" + std::string(name), R"("kept, [\\")");
        }
        body += " }";
        const enforcement by(f.rules, when, f.loose_names);
        const outcome_of r = enforce(body, by, on_conflict::override_value);
        RC_ASSERT(upstream::dialect::is_json(r.text));
        if (r.beyond_help) return;
        const outcome_of again = enforce(r.text, by);
        RC_ASSERT(again.conflicts.empty());
        RC_ASSERT(again.text == r.text);
    });
}
