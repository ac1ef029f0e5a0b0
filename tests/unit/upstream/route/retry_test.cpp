#include "upstream/route/retry.hpp"

#include <doctest/doctest.h>

using namespace idem;
using namespace idem::upstream::route;

TEST_CASE("what may be repeated") {
    struct row {
        attempt failed;
        bool repeat;
    };
    const row rows[] = {
        {{reason::upstream_connect, false, false, false}, true},
        {{reason::upstream_timeout, false, false, false}, true},  // the connect deadline
        {{reason::upstream_timeout, true, false, true}, false},   // it may still be computing
        {{reason::upstream_reset, true, false, true}, true},
        {{reason::upstream_reset, true, false, false}, false},
        {{reason::upstream_reset, true, true, true}, false},
        {{reason::upstream_malformed, true, true, true}, false},
        {{reason::framing_incomplete, true, true, true}, false},
        {{reason::internal_error, false, false, true}, false},
        {{reason::none, false, false, true}, false},
    };
    for (const row& r : rows) CHECK(may_repeat(r.failed) == r.repeat);
}

TEST_CASE("retries are a share of the requests") {
    retry_budget budget({.share = 0.2, .burst = 10});
    unsigned taken = 0;
    while (budget.take()) ++taken;
    CHECK(taken == 10);
    // Everything fails: each request asks for a retry.
    taken = 0;
    for (int i = 0; i < 1000; ++i) {
        budget.on_request();
        taken += budget.take() ? 1 : 0;
    }
    CHECK(taken == 200);
    for (int i = 0; i < 1000; ++i) budget.on_request();
    taken = 0;
    while (budget.take()) ++taken;
    CHECK(taken == 10);
}

TEST_CASE("a share of zero allows the burst only, and nonsense is bounded") {
    retry_budget none({.share = 0, .burst = 0});
    none.on_request();
    CHECK_FALSE(none.take());
    retry_budget wild({.share = 50, .burst = 1});
    CHECK(wild.take());
    wild.on_request();
    CHECK(wild.take());
    CHECK_FALSE(wild.take());
}
