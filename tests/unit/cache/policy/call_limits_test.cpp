#include "cache/policy/call_limits.hpp"

#include <doctest/doctest.h>

#include <rapidcheck.h>
#include <string>
#include <vector>

using namespace idem;
using namespace idem::cache;
using namespace std::chrono_literals;

namespace {

const call_limits::time_point start = call_limits::time_point(1h);

digest named(int n) {
    return sha256(std::to_string(n));
}

}  // namespace

TEST_CASE("without rules nothing is refused") {
    CHECK_FALSE(call_limit_rules{}.any());
    call_limits l({});
    for (int i = 0; i < 1000; ++i) CHECK(l.begin(named(1), start).why == reason::none);
}

TEST_CASE("calls under way, of all and of one") {
    call_limits l({.calls = 3, .caller_calls = 2});
    CHECK(l.begin(named(1), start).why == reason::none);
    CHECK(l.begin(named(1), start).why == reason::none);
    CHECK(l.begin(named(1), start).why == reason::too_many_calls);
    CHECK(l.begin(named(2), start).why == reason::none);
    CHECK(l.begin(named(3), start).why == reason::overloaded);
    l.end(named(1));
    CHECK(l.begin(named(3), start).why == reason::none);
    l.end(named(1));
    CHECK(l.begin(named(1), start).why == reason::none);
    for (const int n : {1, 2, 3}) l.end(named(n));
    CHECK(l.under_way() == 0);
    CHECK(l.callers() == 0);
}

TEST_CASE("a rate with a burst, and when to come back") {
    call_limits l({.per_minute = 6, .burst = 2});
    CHECK(l.begin(named(1), start).why == reason::none);
    CHECK(l.begin(named(1), start).why == reason::none);
    const auto no = l.begin(named(1), start);
    CHECK(no.why == reason::rate_limited);
    CHECK(no.retry_after == 10);
    CHECK(l.begin(named(2), start).why == reason::none);  // another caller's is another bucket
    CHECK(l.begin(named(1), start + 4s).retry_after == 6);
    CHECK(l.begin(named(1), start + 9999ms).retry_after == 1);
    CHECK(l.begin(named(1), start + 10s + 1ms).why == reason::none);
    CHECK(l.begin(named(1), start + 10s + 2ms).why == reason::rate_limited);
    CHECK(l.begin(named(1), start + 1h).why == reason::none);
    CHECK(l.begin(named(1), start + 1h).why == reason::none);
    CHECK(l.begin(named(1), start + 1h).why == reason::rate_limited);
    CHECK(l.begin(named(1), start).why == reason::rate_limited);  // time does not run backwards
}

TEST_CASE("what is refused for being too much at once costs no rate") {
    call_limits l({.caller_calls = 1, .per_minute = 2});
    CHECK(l.begin(named(1), start).why == reason::none);
    for (int i = 0; i < 10; ++i) CHECK(l.begin(named(1), start).why == reason::too_many_calls);
    l.end(named(1));
    CHECK(l.begin(named(1), start).why == reason::none);
}

TEST_CASE("memory is bounded: who has not called for longest is forgotten") {
    call_limits l({.per_minute = 1}, 100);
    CHECK(l.begin(named(0), start).why == reason::none);
    for (int i = 1; i < 100; ++i) CHECK(l.begin(named(i), start).why == reason::none);
    CHECK(l.begin(named(0), start).why == reason::rate_limited);  // remembered, and used last
    CHECK(l.begin(named(100), start).why == reason::none);
    CHECK(l.callers() == 100);
    CHECK(l.begin(named(0), start).why == reason::rate_limited);
    CHECK(l.begin(named(1), start).why == reason::none);  // forgotten
    for (int i = 1000; i < 3000; ++i) (void)l.begin(named(i), start);
    CHECK(l.callers() == 100);
}

TEST_CASE("over any time no caller begins more than its burst and its rate") {
    rc::check([] {
        const auto per_minute = *rc::gen::inRange<std::uint32_t>(1, 600);
        const auto burst = *rc::gen::inRange<std::uint32_t>(1, 50);
        call_limits l({.per_minute = per_minute, .burst = burst});
        auto now = start;
        std::uint64_t begun = 0;
        const auto pauses = *rc::gen::container<std::vector<int>>(200, rc::gen::inRange(0, 500));
        for (const int pause : pauses) {
            now += std::chrono::milliseconds(pause);
            const auto said = l.begin(named(1), now);
            if (said.why == reason::none) {
                ++begun;
                continue;
            }
            now += std::chrono::seconds(said.retry_after);  // who comes back when told to is let in
            RC_ASSERT(l.begin(named(1), now).why == reason::none);
            ++begun;
        }
        const double minutes = std::chrono::duration<double>(now - start).count() / 60;
        RC_ASSERT(static_cast<double>(begun) <= burst + minutes * per_minute + 1e-6);
    });
}
