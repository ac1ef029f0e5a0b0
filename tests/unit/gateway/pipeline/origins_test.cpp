#include "gateway/pipeline/origins.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace idem::gateway::pipeline;
using idem::upstream::http::fields;

TEST_CASE("an origin is told again what it was told last") {
    origin_memory m;
    CHECK_FALSE(m.find("https://a"));
    fields answer;
    answer.add("Content-Type", "application/json");
    m.learn("https://a", answer);
    REQUIRE(m.find("https://a"));
    CHECK(m.find("https://a")->empty());
    CHECK_FALSE(m.find("https://b"));
    answer.add("access-control-allow-origin", "https://a");
    answer.add("Access-Control-Allow-Methods", "of preflights alone");
    m.learn("https://a", answer);
    CHECK(*m.find("https://a") == "access-control-allow-origin: https://a\r\nVary: Origin\r\n");
}

TEST_CASE("it is bounded: the oldest origins go, and absurd ones never come") {
    origin_memory m(2);
    const fields none;
    for (const char* origin : {"a", "b", "a", "c"}) m.learn(origin, none);
    CHECK_FALSE(m.find("a"));
    CHECK(m.find("b"));
    CHECK(m.find("c"));
    m.learn(std::string(257, 'x'), none);
    CHECK_FALSE(m.find(std::string(257, 'x')));
}
