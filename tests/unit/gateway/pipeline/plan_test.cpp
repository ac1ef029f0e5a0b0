#include "gateway/pipeline/plan.hpp"

#include <doctest/doctest.h>

using namespace idem::gateway;

namespace {

config::snapshot two_upstreams() {
    auto c = std::make_shared<config::configuration>();
    c->upstreams = {{.name = "one"}, {.name = "two"}};
    c->policies = {{.name = "relaxed", .base = "relaxed"}, {.name = "bypass", .base = "bypass"}};
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
    CHECK(p.match("/v1/chat/completions", "big-70b", none)->settings->name == "models");
    CHECK(p.match("/v1/chat/completions", "small", none)->settings->name == "rest");
    CHECK(p.match("/v1/chat/completions", "small", audit)->settings->name == "tagged");
    CHECK(p.match("/v1/chat/completions", "small", audit)->policy->bypass);
    CHECK(p.match("/v1/files", "", none)->upstream->settings->name == "one");
}

TEST_CASE("a route that names what does not exist is not there") {
    auto c = std::make_shared<config::configuration>(*two_upstreams());
    c->routes = {{.name = "bad", .upstream = "nowhere"}};
    const pipeline::plan p(c);
    CHECK(p.match("/x", "", {}) == nullptr);
}
