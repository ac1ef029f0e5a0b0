#include "upstream/route/health.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace idem;
using namespace idem::upstream::route;
using namespace std::chrono_literals;

namespace {

const time_point start{1h};
const health_limits limits{
    .connect_failures = 3, .failures = 5, .first_ejection = 2s, .longest_ejection = 7s, .most_ejected = 0.5};

void fail(health& h, std::size_t replica, unsigned times, time_point now, experience how = experience::server_error) {
    for (unsigned i = 0; i < times; ++i) h.report(replica, how, now);
}

}  // namespace

TEST_CASE("failures in a row eject, sooner if there is no connection") {
    health h(2, limits);
    fail(h, 0, 4, start);
    CHECK(h.available(0, start));
    h.report(0, experience::success, start);
    fail(h, 0, 4, start);
    CHECK(h.available(0, start));
    fail(h, 0, 1, start, experience::no_answer);
    CHECK_FALSE(h.available(0, start));
    CHECK(h.ejected(start) == 1);
    CHECK(h.available(0, start + 2s));

    health c(2, limits);
    fail(c, 1, 2, start, experience::cannot_connect);
    fail(c, 1, 1, start);
    fail(c, 1, 1, start, experience::cannot_connect);
    CHECK(c.available(1, start));  // never three connect failures in a row
    health d(2, limits);
    fail(d, 1, 3, start, experience::cannot_connect);
    CHECK_FALSE(d.available(1, start));
}

TEST_CASE("one deadline that passed ejects") {
    health h(2, limits);
    h.report(0, experience::timed_out, start);
    CHECK_FALSE(h.available(0, start));
    CHECK(h.available(0, start + 2s));
    h.report(1, experience::timed_out, start);  // the last one stays
    CHECK(h.available(1, start));
}

TEST_CASE("a replica on probation that fails again stays away twice as long, up to the cap") {
    health h(2, limits);
    fail(h, 0, 5, start);
    time_point now = start;
    for (const auto length : {2s, 4s, 7s, 7s}) {
        CHECK_FALSE(h.available(0, now + length - 1ns));
        now += length;
        CHECK(h.available(0, now));
        fail(h, 0, 1, now);
    }
    now += 7s;
    h.report(0, experience::success, now);
    CHECK(h.spotless(0));
    fail(h, 0, 4, now);
    CHECK(h.available(0, now));
}

TEST_CASE("what was under way when a replica was ejected changes nothing") {
    health h(2, limits);
    fail(h, 0, 5, start);
    h.report(0, experience::success, start + 1s);
    fail(h, 0, 20, start + 1s);
    CHECK_FALSE(h.available(0, start + 1s));
    CHECK(h.available(0, start + 2s));
    fail(h, 0, 1, start + 2s);
    CHECK_FALSE(h.available(0, start + 5s));
    CHECK(h.available(0, start + 6s));
}

TEST_CASE("a replica that asks for rest gets it, up to the cap, and takes part again after it") {
    health h(2, limits);
    h.rest(0, 5s, start);
    CHECK_FALSE(h.spotless(0));
    CHECK_FALSE(h.available(0, start + 4s));
    CHECK(h.available(0, start + 5s));
    h.rest(1, 1s, start + 1s);  // one of two is away already
    CHECK(h.available(1, start + 1s));
    h.rest(0, 1h, start + 5s);
    CHECK(h.available(0, start + 5s + 7s));
    h.report(0, experience::success, start + 12s);
    CHECK(h.spotless(0));
    h.rest(0, 5s, start + 12s);
    h.rest(0, 1s, start + 13s);  // never shorter than it was said before
    CHECK_FALSE(h.available(0, start + 16s));
}

TEST_CASE("never more than the share is ejected, so a lone replica never is") {
    rc::check([] {
        const auto replicas = *rc::gen::inRange<std::size_t>(1, 8);
        health h(replicas, limits);
        time_point now = start;
        const auto steps = *rc::gen::container<std::vector<std::tuple<std::size_t, int, int>>>(rc::gen::tuple(
            rc::gen::inRange<std::size_t>(0, replicas), rc::gen::inRange(0, 4), rc::gen::inRange(0, 3000)));
        for (const auto& [replica, what, wait] : steps) {
            now += std::chrono::milliseconds(wait);
            h.report(replica, static_cast<experience>(what), now);
            RC_ASSERT(h.ejected(now) <= replicas / 2);
        }
    });
    health lone(1, limits);
    fail(lone, 0, 100, start);
    CHECK(lone.available(0, start));
}

TEST_CASE("the ejected are marked, and while all is well nothing is") {
    shared_health h(4, limits);
    std::vector<replica_class> classes;
    h.mark(classes, start);
    CHECK(classes.empty());
    for (int i = 0; i < 5; ++i) h.report(2, experience::server_error, start);
    CHECK_FALSE(h.available(2, start));
    CHECK(h.ejected(start) == 1);
    h.mark(classes, start);
    CHECK(classes == std::vector<replica_class>{0, 0, unwanted, 0});
    std::vector<replica_class> known{3, unwanted, 1, 0};
    h.mark(known, start);
    CHECK(known == std::vector<replica_class>{3, unwanted, unwanted, 0});
    // Back after its time, and after a success nothing is remembered.
    h.report(2, experience::success, start + 2s);
    classes.clear();
    h.mark(classes, start + 2s);
    CHECK(classes.empty());
}
