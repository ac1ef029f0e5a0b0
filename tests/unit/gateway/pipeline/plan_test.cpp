#include "gateway/pipeline/plan.hpp"

#include <doctest/doctest.h>

using namespace idem::gateway;
using pipeline::glob_match;

TEST_CASE("a star stands for any run of characters") {
    CHECK(glob_match("*", ""));
    CHECK(glob_match("qwen*", "qwen3-8b"));
    CHECK(glob_match("*-8b", "qwen3-8b"));
    CHECK(glob_match("q*3*b", "qwen3-8b"));
    CHECK(glob_match("/v1/*", "/v1/chat/completions"));
    CHECK_FALSE(glob_match("qwen", "qwen3"));
    CHECK_FALSE(glob_match("q*x", "qwen"));
    CHECK_FALSE(glob_match("", "x"));
    // A pattern that backtracks badly in naive matchers.
    CHECK_FALSE(glob_match("a*a*a*a*a*a*a*a*b", std::string(2000, 'a')));
}

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
