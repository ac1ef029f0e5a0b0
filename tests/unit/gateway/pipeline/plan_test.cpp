#include "gateway/pipeline/plan.hpp"

#include <doctest/doctest.h>

using namespace idem::gateway;

namespace {

config::snapshot two_upstreams() {
    auto c = std::make_shared<config::configuration>();
    c->upstreams = {{.name = "one"}, {.name = "two"}};
    for (const std::string name : {"relaxed", "seeded", "strict", "offline", "bypass"})
        c->policies.push_back({.name = name, .base = name});
    c->policies.push_back({.name = "audit", .base = "strict", .above = {"strict"}});
    c->policies.push_back({.name = "long", .base = "relaxed", .above = {"relaxed"}});
    c->policies.push_back({.name = "shelf", .base = "offline", .above = {"offline"}, .of = "audit"});
    c->routes = {{.name = "models", .model = "big*", .upstream = "one"},
                 {.name = "tagged", .headers = {{"x-scenario", "audit"}}, .upstream = "two", .policy = "bypass"},
                 {.name = "rest", .upstream = "two"}};
    return c;
}

}  // namespace

TEST_CASE("the first route whose conditions all hold is taken") {
    const pipeline::plan p(two_upstreams());
    idem::upstream::http::fields none, audit;
    audit.add("X-Scenario", "audit");
    CHECK(p.match({"/v1/chat/completions", "big-70b"}, none)->settings->name == "models");
    CHECK(p.match({"/v1/chat/completions", "small"}, none)->settings->name == "rest");
    CHECK(p.match({"/v1/chat/completions", "small"}, audit)->settings->name == "tagged");
    CHECK(p.match({"/v1/chat/completions", "small"}, audit)->policy->bypass);
    CHECK(p.match({"/v1/files", ""}, none)->upstream->settings->name == "one");
}

TEST_CASE("a route that names what does not exist is not there") {
    auto c = std::make_shared<config::configuration>(*two_upstreams());
    c->routes = {{.name = "bad", .upstream = "nowhere"}};
    const pipeline::plan p(c);
    CHECK(p.match({"/x", ""}, {}) == nullptr);
}

TEST_CASE("a route may want an API, which on a shared path its own engine tells") {
    auto c = std::make_shared<config::configuration>(*two_upstreams());
    c->upstreams = {{.name = "sg", .engine = "sglang"}, {.name = "tgi", .engine = "tgi"}};
    c->routes = {{.name = "tgi", .dialect = "tgi.*", .upstream = "tgi"},
                 {.name = "sg", .dialect = "sglang.generate", .upstream = "sg"},
                 {.name = "chat", .dialect = "openai.*", .upstream = "sg"},
                 {.name = "other", .dialect = "passthrough", .upstream = "tgi"}};
    const pipeline::plan p(c);
    const auto name = [&](std::string_view path, std::string_view body = {}) {
        const auto* r = p.match({path, "", idem::upstream::dialect::find("POST", path), body}, {});
        return r ? r->settings->name : "";
    };
    CHECK(name("/v1/chat/completions") == "chat");
    CHECK(name("/generate", R"({"inputs":"x"})") == "tgi");
    CHECK(name("/generate", R"({"text":"x"})") == "sg");
    CHECK(name("/v1/files") == "other");
    CHECK(name("/v1/messages").empty());
}

TEST_CASE("a client may ask for a stricter policy, for one that extends the route's, and for stored answers") {
    auto c = std::make_shared<config::configuration>(*two_upstreams());
    c->upstreams = {{.name = "one", .engine = "vllm"}, {.name = "two", .engine = "openai"}};
    c->routes = {{.name = "strict", .model = "s", .upstream = "one", .policy = "audit"},
                 {.name = "plain", .model = "p", .upstream = "one"},
                 {.name = "cloud", .model = "c", .upstream = "two"},
                 {.name = "shelf", .model = "o", .upstream = "one", .policy = "shelf"},
                 {.name = "rest", .upstream = "one", .policy = "bypass"}};
    const pipeline::plan p(c);
    const auto asked = [&](std::string_view model, std::string_view policy) -> std::string {
        const auto* route = p.match({"/v1/chat/completions", model}, {});
        const auto* under = p.under(*route, policy);
        if (!under) return "no";
        CHECK(under->settings == route->settings);
        return std::string(under->asked) + (under->offline ? " of " + under->policy->settings->name : "");
    };
    CHECK(asked("p", "relaxed") == "relaxed");
    CHECK(asked("p", "seeded") == "seeded");
    CHECK(asked("p", "strict") == "strict");
    CHECK(asked("p", "long") == "long");
    CHECK(asked("p", "audit") == "no");
    CHECK(asked("p", "bypass") == "no");
    CHECK(asked("p", "offline") == "offline of relaxed");
    CHECK(asked("s", "strict") == "audit");
    CHECK(asked("s", "audit") == "audit");
    CHECK(asked("s", "relaxed") == "no");
    CHECK(asked("s", "seeded") == "no");
    CHECK(asked("s", "offline") == "offline of audit");
    CHECK(asked("c", "strict") == "no");  // hosted
    CHECK(asked("c", "seeded") == "seeded");
    CHECK(asked("o", "offline") == "shelf of audit");
    CHECK(asked("o", "shelf") == "shelf of audit");
    CHECK(asked("o", "strict") == "no");
    CHECK(p.match({"/x", "q"}, {})->policy->bypass);
    CHECK(asked("q", "relaxed") == "no");
    CHECK(asked("q", "offline") == "offline of bypass");
    // Nothing of other routes, and the same treatment where policy and engine are the same.
    CHECK(p.match({"/x", "s"}, {})->treatment == p.match({"/x", "o"}, {})->treatment);
    CHECK(p.match({"/x", "s"}, {})->treatment != p.match({"/x", "p"}, {})->treatment);
}
