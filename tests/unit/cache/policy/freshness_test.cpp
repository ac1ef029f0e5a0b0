#include "cache/policy/freshness.hpp"

#include <doctest/doctest.h>

using namespace idem::cache;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr unix_ms created = 1'000'000, fresh_until = created + 60'000, keep_until = fresh_until + 60'000;

freshness at(unix_ms now, controls c = {}) {
    return judge(created, fresh_until, keep_until, c, now);
}

controls aged(int n) {
    controls c;
    c.max_age = seconds(n);
    return c;
}

}  // namespace

TEST_CASE("an entry is fresh, then expired, then dead") {
    CHECK(at(created) == freshness::fresh);
    CHECK(at(fresh_until - 1) == freshness::fresh);
    CHECK(at(fresh_until) == freshness::expired);
    CHECK(at(keep_until - 1) == freshness::expired);
    CHECK(at(keep_until) == freshness::dead);
    CHECK(at(created - 5000) == freshness::fresh);  // clocks disagree
}

TEST_CASE("max-age narrows what is fresh and nothing else") {
    CHECK(at(created + 10'000, aged(10)) == freshness::fresh);
    CHECK(at(created + 10'001, aged(10)) == freshness::too_old);
    CHECK(at(created, aged(0)) == freshness::too_old);
    CHECK(at(fresh_until, aged(3600)) == freshness::expired);
}

TEST_CASE("an expired answer stands in for a failing upstream only where that is wanted") {
    const unix_ms now = fresh_until + 5'000;
    CHECK(may_serve_stale(fresh_until, keep_until, {}, true, now));
    CHECK_FALSE(may_serve_stale(fresh_until, keep_until, {}, false, now));
    CHECK_FALSE(may_serve_stale(fresh_until, keep_until, {}, true, keep_until));
    controls c;
    c.stale_if_error = seconds(6);
    CHECK(may_serve_stale(fresh_until, keep_until, c, false, now));
    c.stale_if_error = seconds(5);
    CHECK_FALSE(may_serve_stale(fresh_until, keep_until, c, true, now));
    CHECK_FALSE(may_serve_stale(fresh_until, keep_until, aged(100), true, now));
    controls anew;
    anew.no_cache = true;
    CHECK_FALSE(may_serve_stale(fresh_until, keep_until, anew, true, now));
}

TEST_CASE("age is in whole seconds and never negative") {
    CHECK(age_seconds(created, created + 1999) == 1);
    CHECK(age_seconds(created, created - 5000) == 0);
}

TEST_CASE("an answer is as old as the cache on its way says") {
    CHECK(created_at("", created) == created);
    CHECK(created_at("0", created) == created);
    CHECK(created_at("90", created) == created - 90'000);
    CHECK(created_at("99999999999999999999999", created) == std::max<unix_ms>(1, created - (1LL << 31) * 1000));
    for (const auto* malformed : {"-1", "1.5", " 1", "1s", "1, 2"}) CHECK(created_at(malformed, created) == created);
}

TEST_CASE("Idem-TTL shortens a lifetime and never lengthens it") {
    const lifetime_rules rules{hours(24), hours(48)};
    const lifetime full = lifetime_of(rules, std::nullopt, created);
    CHECK(full.fresh_until == created + milliseconds(hours(24)).count());
    CHECK(full.keep_until == full.fresh_until + milliseconds(hours(48)).count());
    CHECK(lifetime_of(rules, seconds(60), created).fresh_until == created + 60'000);
    CHECK(lifetime_of(rules, hours(99), created).fresh_until == full.fresh_until);
    const lifetime endless = lifetime_of({milliseconds::max(), milliseconds::max()}, std::nullopt, created);
    CHECK(endless.fresh_until > created);
    CHECK(endless.keep_until >= endless.fresh_until);
}
