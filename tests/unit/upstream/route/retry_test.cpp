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

TEST_CASE("a lost replica computes nothing any more") {
    CHECK(may_repeat({reason::upstream_timeout, true, false, true, true}));
    CHECK_FALSE(may_repeat({reason::upstream_timeout, true, false, true, false}));
    CHECK_FALSE(may_repeat({reason::upstream_timeout, true, false, false, true}));
    CHECK_FALSE(may_repeat({reason::upstream_timeout, true, true, true, true}));  // after a byte never
    CHECK(may_repeat({reason::upstream_timeout, false, false, false, true}));
}

TEST_CASE("another replica is asked after 502 and 503, if asking twice is harmless") {
    for (const unsigned status : {200U, 400U, 401U, 404U, 408U, 409U, 429U, 500U, 501U, 504U, 529U}) {
        CHECK_FALSE(may_ask_another(status, true));
    }
    CHECK(may_ask_another(502, true));
    CHECK(may_ask_another(503, true));
    CHECK_FALSE(may_ask_another(503, false));
}

TEST_CASE("Retry-After is seconds or a date") {
    using std::chrono::seconds;
    constexpr std::int64_t now = 784111777;  // the date of the specification's examples
    CHECK(retry_after("120", 0) == seconds(120));
    CHECK(retry_after("99999999", 0) == seconds(24 * 3600));
    CHECK(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now - 30) == seconds(30));
    CHECK(retry_after("Thu, 29 Feb 2024 00:00:01 GMT", 1709164800) == seconds(1));
    for (const char* nothing :
         {"", "0", "-5", "1.5", "5 s", "soon", "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
          "Sun, 66 Nov 2094 08:49:37 GMT", "Sun, 06 ovD 2094 08:49:37 GMT", "Sun, 06 Nov 2094 08:49:3  GMT"}) {
        CAPTURE(nothing);
        CHECK_FALSE(retry_after(nothing, now));
    }
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
