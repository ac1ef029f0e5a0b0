#include "upstream/route/idle_looks.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace idem::upstream::route;
using namespace std::chrono_literals;

namespace {

const idle_looks::time_point start(1h);

}  // namespace

TEST_CASE("an engine is idle when two looks in a row say so") {
    idle_looks looks(start, 1s);
    CHECK(looks.next() == start + 20ms);
    looks.looked(true, start + 20ms);
    CHECK_FALSE(looks.idle());
    REQUIRE(looks.next());
    looks.looked(false, *looks.next());
    looks.looked(true, *looks.next());
    CHECK_FALSE(looks.idle());
    looks.looked(std::nullopt, *looks.next());
    looks.looked(true, *looks.next());
    CHECK_FALSE(looks.idle());
    looks.looked(true, *looks.next());
    CHECK(looks.idle());
    CHECK(looks.told());
    CHECK_FALSE(looks.next());
}

TEST_CASE("one that stays at work is asked less and less often, and at last no more") {
    idle_looks looks(start, 1s);
    std::vector<idle_looks::time_point> asked;
    while (const auto due = looks.next()) {
        asked.push_back(*due);
        looks.looked(false, *due);
    }
    CHECK(asked.size() > 15);
    CHECK(asked.size() < 30);
    CHECK(asked[1] - asked[0] == 40ms);
    CHECK(asked.back() - asked[asked.size() - 2] == 500ms);
    CHECK(asked.back() >= start + 10s);
    CHECK(asked.back() < start + 11s);
    CHECK_FALSE(looks.idle());
}

TEST_CASE("one that does not tell is waited for as long as was said") {
    for (const auto grace : {0ms, 700ms}) {
        idle_looks looks(start, grace);
        auto last = start;
        while (const auto due = looks.next()) {
            last = *due;
            looks.looked(std::nullopt, *due);
        }
        CHECK(last >= start + grace);
        CHECK(last <= start + grace + 501ms);
        CHECK_FALSE(looks.idle());
        CHECK_FALSE(looks.told());
    }
}
