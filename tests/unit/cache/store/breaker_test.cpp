#include "cache/store/breaker.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

using namespace idem::cache;
using namespace std::chrono_literals;
using state = breaker::state;

namespace {

const breaker::time_point start{1000s};

breaker::time_point opened(breaker& b) {
    for (int i = 0; i < 5; ++i) b.failure(start);
    return start;
}

}  // namespace

TEST_CASE("a breaker opens after five failures in a row") {
    breaker b;
    for (int i = 0; i < 4; ++i) {
        CHECK(b.allow(start));
        b.failure(start);
    }
    CHECK(b.current() == state::closed);
    CHECK(b.allow(start));
    b.failure(start);
    CHECK(b.current() == state::open);
    CHECK_FALSE(b.allow(start));
    CHECK(b.opened() == 1);
}

TEST_CASE("a success between failures keeps it closed") {
    breaker b;
    for (int i = 0; i < 100; ++i) {
        b.failure(start);
        if (i % 4 == 3) b.success();
    }
    CHECK(b.current() == state::closed);
    CHECK(b.opened() == 0);
}

TEST_CASE("an open breaker lets one probe out each second") {
    breaker b;
    const auto t = opened(b);
    CHECK_FALSE(b.allow(t + 999ms));
    CHECK(b.allow(t + 1s));
    CHECK(b.current() == state::half_open);
    CHECK_FALSE(b.allow(t + 1s));
    b.failure(t + 1500ms);
    CHECK(b.current() == state::open);
    CHECK_FALSE(b.allow(t + 1999ms));
    CHECK(b.allow(t + 2s));
}

TEST_CASE("a probe that succeeds closes, and the count starts anew") {
    breaker b;
    const auto t = opened(b);
    REQUIRE(b.allow(t + 1s));
    b.success();
    CHECK(b.current() == state::closed);
    CHECK(b.allow(t + 1s));
    for (int i = 0; i < 4; ++i) b.failure(t + 1s);
    CHECK(b.current() == state::closed);
}

TEST_CASE("a probe that never reports costs one interval") {
    breaker b;
    const auto t = opened(b);
    REQUIRE(b.allow(t + 1s));
    CHECK_FALSE(b.allow(t + 1999ms));
    CHECK(b.allow(t + 2s));
}

TEST_CASE("trip opens at once and does not postpone the next probe when repeated") {
    breaker b;
    b.trip(start);
    CHECK(b.current() == state::open);
    b.trip(start + 900ms);
    CHECK(b.opened() == 1);
    CHECK(b.allow(start + 1s));
}

TEST_CASE("of many threads exactly one is the probe") {
    breaker b;
    const auto t = opened(b);
    std::atomic<int> allowed{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            for (int n = 0; n < 1000; ++n)
                if (b.allow(t + 1s)) allowed.fetch_add(1);
        });
    for (auto& thread : threads) thread.join();
    CHECK(allowed == 1);
}

TEST_CASE("states have names") {
    CHECK(to_string(state::closed) == "closed");
    CHECK(to_string(state::open) == "open");
    CHECK(to_string(state::half_open) == "half-open");
}
