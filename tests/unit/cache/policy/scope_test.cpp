#include "cache/policy/scope.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace idem;
using cache::scope_of;
using cache::scope_rules;
using upstream::http::fields;

namespace {

using pairs = std::vector<std::pair<std::string, std::string>>;

struct sender {
    pairs headers{};
    std::string query{}, certificate{}, client{}, peer = "10.0.0.1";
};

cache::scope scope_for(const scope_rules& rules, const sender& who) {
    fields f;
    for (const auto& [name, value] : who.headers) f.add(name, value);
    return scope_of(rules, {f, who.query, who.certificate, who.client, *cache::ip_address::parse(who.peer)});
}

const pairs bearer{{"Authorization", "Bearer a"}};

}  // namespace

TEST_CASE("every kind of credential and account is a scope of its own") {
    const scope_rules rules;
    std::vector<sender> senders = {{}};
    for (const char* name : {"authorization", "x-api-key", "api-key", "x-goog-api-key", "openai-organization",
                             "openai-project", "anthropic-workspace-id", "anthropic-user-profile-id"}) {
        senders.push_back({{{name, "v"}}});
        senders.push_back({{{name, "w"}}});
        senders.push_back({{{name, ""}}});
        senders.push_back({{{name, "v"}, {name, "w"}}});
    }
    senders.push_back({{}, "key=v"});
    senders.push_back({{}, "api_key=v"});
    senders.push_back({{}, "", "v"});
    senders.push_back({{{"authorization", "v"}}, "key=v"});
    senders.push_back({{{"authorization", "v"}, {"x-api-key", "v"}}});
    senders.push_back({{{"authorization", "v"}, {"openai-project", "v"}}});
    std::set<digest> seen;
    for (const sender& s : senders) seen.insert(scope_for(rules, s).value);
    CHECK(seen.size() == senders.size());
}

TEST_CASE("the same caller has the same scope, whatever else is sent") {
    const scope_rules rules;
    const digest a = scope_for(rules, {bearer}).value;
    CHECK(scope_for(rules, {{{"AUTHORIZATION", "Bearer a"}, {"x-request-id", "7"}}, "alt=sse", "", "", "10.9.9.9"})
              .value == a);
    CHECK(scope_for(rules, {{{"x-request-id", "1"}, {"authorization", "Bearer a"}}}).value == a);
    CHECK(scope_for(rules, {{}, "a=1&k%65y=s%2d"}).value == scope_for(rules, {{}, "key=s-"}).value);
    CHECK_FALSE(scope_for(rules, {bearer}).anonymous);
}

TEST_CASE("two callers without a credential share, and never with one who has one") {
    for (const char* mode : {"credential", "shared"}) {
        const scope_rules rules = *cache::parse_scope(mode);
        CHECK(scope_for(rules, {}).anonymous);
        CHECK(scope_for(rules, {}).value == scope_for(rules, {{{"x-other", "1"}}}).value);
        CHECK(scope_for(rules, {}).value != scope_for(rules, {bearer}).value);
    }
}

TEST_CASE("a shared scope spans credentials but not accounts") {
    const scope_rules rules = *cache::parse_scope("shared");
    const cache::scope a = scope_for(rules, {bearer});
    const cache::scope b = scope_for(rules, {{{"x-api-key", "other"}}});
    CHECK(a.value == b.value);
    CHECK(a.credential != b.credential);
    CHECK(scope_for(rules, {{{"authorization", "Bearer a"}, {"openai-project", "p"}}}).value != a.value);
}

TEST_CASE("scope client is the name, and needs one") {
    const scope_rules rules = *cache::parse_scope("client");
    CHECK(scope_for(rules, {bearer}).why == reason::unauthorized);
    const digest a = scope_for(rules, {bearer, "", "", "team"}).value;
    CHECK(scope_for(rules, {{{"x-api-key", "rotated"}}, "", "", "team"}).value == a);
    CHECK(scope_for(rules, {bearer, "", "", "other"}).value != a);
}

TEST_CASE("a scope header counts once and from a trusted peer only") {
    scope_rules rules = *cache::parse_scope("header:X-Tenant");
    CHECK(rules.header == "x-tenant");
    const sender one{{{"X-Tenant", "1"}}};
    CHECK(scope_for(rules, one).why == reason::untrusted_scope);
    rules.trusted = {*cache::cidr::parse("10.0.0.0/8")};
    CHECK(scope_for(rules, one).why == reason::none);
    CHECK(scope_for(rules, {{{"x-tenant", "1"}}, "", "", "", "11.0.0.1"}).why == reason::untrusted_scope);
    CHECK(scope_for(rules, {{{"x-tenant", "1"}, {"X-Tenant", "1"}}}).why == reason::untrusted_scope);
    CHECK(scope_for(rules, {}).why == reason::untrusted_scope);
    CHECK(scope_for(rules, one).value != scope_for(rules, {{{"x-tenant", "2"}}}).value);
    CHECK(scope_for(rules, {{{"x-tenant", "1"}, {"authorization", "a"}}}).value ==
          scope_for(rules, {{{"x-tenant", "1"}, {"authorization", "b"}}}).value);
    scope_rules renamed = rules;
    renamed.header = "x-team";
    CHECK(scope_for(renamed, {{{"x-team", "1"}}}).value != scope_for(rules, one).value);
}

TEST_CASE("a secret hides scopes from who can guess a credential") {
    scope_rules secret;
    secret.secret = "s";
    CHECK(scope_for(secret, {bearer}).value != scope_for({}, {bearer}).value);
}

TEST_CASE("the encoding of a scope is fixed") {
    // HMAC-SHA-256 under "idem scope 1" of the parts v, m, a as cache/README.md lays them out; computed with Python.
    CHECK(to_hex(scope_for({}, {bearer}).value.bytes) ==
          "b9e1a5ca66b8d56951a03e6b90a41bf7488814fed486a341723f4f177d2a32c3");
    CHECK(to_hex(scope_for({}, {}).value.bytes) == "5808ae33a59fc46cf8bb943a3e3f0a11d44a502e554d97c72035d0a81a8c764e");
}

TEST_CASE("what a call keeps apart narrows every scope, and is no credential") {
    for (const char* mode : {"credential", "client", "shared", "header:x-tenant"}) {
        cache::scope_rules rules = *cache::parse_scope(mode);
        rules.trusted.push_back(*cache::cidr::parse("0.0.0.0/0"));
        upstream::http::fields fields;
        fields.add("authorization", "a");
        fields.add("x-tenant", "1");
        const auto with = [&](std::string_view tenant) {
            return cache::scope_of(rules,
                                   {fields, "", "", "alice", cache::ip_address::from_v4({127, 0, 0, 1}), tenant});
        };
        CAPTURE(mode);
        CHECK(with("x").why == reason::none);
        CHECK(with("x").value == with("x").value);
        CHECK(with("x").value != with("y").value);
        CHECK(with("x").value != with("").value);
        CHECK(with("x").credential == with("").credential);
    }
}

TEST_CASE("how a scope is configured") {
    CHECK(cache::parse_scope("credential")->mode == cache::scope_mode::credential);
    for (const char* bad : {"", "Credential", "header", "header:", "header:a b", "header:a:b", "tenant"}) {
        CHECK_MESSAGE(!cache::parse_scope(bad), std::string(bad));
    }
}

TEST_CASE("fields that identify the caller") {
    CHECK(cache::scope_field("Authorization"));
    CHECK(cache::scope_field("openai-project"));
    CHECK_FALSE(cache::scope_field("user-agent"));
}

TEST_CASE("limits are counted by what a caller cannot choose") {
    scope_rules rules;
    const auto id = [&](const sender& who) {
        fields f;
        for (const auto& [name, value] : who.headers) f.add(name, value);
        return cache::caller_id(
            rules, {f, who.query, who.certificate, who.client, *cache::ip_address::parse(who.peer), "tenant"});
    };
    const idem::digest plain = id({bearer});
    CHECK(id({{{"Authorization", "Bearer a"}, {"OpenAI-Organization", "x"}}}) == plain);
    CHECK(id({{{"Authorization", "Bearer a"}, {"Idem-Namespace", "x"}}}) == plain);
    CHECK(id({{{"Authorization", "Bearer b"}}}) != plain);
    CHECK(id({}) != plain);
    CHECK(id({{}, "key=v"}) != id({}));
    const idem::digest ours = id({bearer, "", "", "ours"});
    CHECK(ours != plain);
    CHECK(id({{{"Authorization", "Bearer b"}}, "", "", "ours"}) == ours);  // another of its keys
    CHECK(id({bearer, "", "", "theirs"}) != ours);

    rules = *cache::parse_scope("header:x-tenant");
    rules.trusted = {*cache::cidr::parse("10.0.0.0/8")};
    const pairs tenant{{"Authorization", "Bearer a"}, {"X-Tenant", "t"}}, twice{{"X-Tenant", "t"}, {"X-Tenant", "t"}};
    CHECK(id({tenant}) != plain);
    CHECK(id({tenant}) == id({{{"Authorization", "Bearer b"}, {"X-Tenant", "t"}}}));
    sender stranger{tenant};
    stranger.peer = "192.0.2.1";
    CHECK(id(stranger) == plain);
    CHECK(id({twice}) == id({}));
}
