#include "cache/redis/monitor.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "cache/redis/backoff.hpp"

using namespace idem::cache::redis;
using namespace std::chrono_literals;

namespace {

struct fixture {
    std::vector<std::string> lines;
    monitor health{"redis://h:6379", [this](std::string_view l) { lines.emplace_back(l); }};
    monitor::time_point now{1h};
};

}  // namespace

TEST_CASE("three outages in a row open the breaker, which probes once a second") {
    fixture f;
    f.health.outage(fault::timeout, f.now);
    f.health.outage(fault::timeout, f.now);
    f.health.answered();
    f.health.outage(fault::timeout, f.now);
    f.health.outage(fault::timeout, f.now);
    CHECK(f.health.serving());
    CHECK(f.health.may_connect(f.now));
    CHECK(f.health.may_connect(f.now));
    f.health.outage(fault::closed, f.now);
    CHECK_FALSE(f.health.serving());
    CHECK(f.health.state() == "breaker open: closed");
    int probes = 0;
    for (int i = 0; i < 100; ++i) {
        probes += f.health.may_connect(f.now + 100ms * i) ? 1 : 0;
    }
    CHECK(probes == 9);
    f.health.connected(f.now);
    CHECK(f.health.serving());
    CHECK(f.health.state() == "ok");
}

TEST_CASE("after an outage a handshake is only probation") {
    fixture f;
    for (int i = 0; i < 3; ++i) {
        f.health.outage(fault::timeout, f.now);
    }
    f.health.connected(f.now);
    f.health.outage(fault::timeout, f.now + 2s);
    CHECK_FALSE(f.health.serving());
    f.health.connected(f.now);
    f.health.answered();
    f.health.outage(fault::timeout, f.now + 4s);
    CHECK(f.health.serving());
}

TEST_CASE("a refused password opens the breaker at once") {
    fixture f;
    f.health.outage(fault::wrongpass, f.now);
    CHECK_FALSE(f.health.serving());
}

TEST_CASE("a refused write pauses writes for a second and nothing else") {
    fixture f;
    CHECK(f.health.writable(f.now));
    f.health.note(fault::oom, f.now);
    CHECK(f.health.serving());
    CHECK_FALSE(f.health.writable(f.now + 999ms));
    CHECK(f.health.state() == "read-only: oom");
    CHECK(f.health.writable(f.now + 1s));
    CHECK(f.health.state() == "read-only: oom");  // until a value was stored
    f.health.stored(f.now);
    CHECK(f.health.state() == "ok");
}

TEST_CASE("each kind of fault is counted always and said at most once in ten seconds") {
    fixture f;
    for (int i = 0; i < 100; ++i) {
        f.health.note(fault::loading, f.now + 100ms * i);
        f.health.note(fault::noscript, f.now);
    }
    f.health.note(fault::moved, f.now, "detail");
    CHECK(f.health.count(fault::loading) == 100);
    CHECK(f.health.count(fault::noscript) == 100);
    REQUIRE(f.lines.size() == 2);
    CHECK(f.lines[0] == "redis redis://h:6379: loading: Redis is loading its data set");
    CHECK(f.lines[1].ends_with("a cluster is not supported by topology: standalone (detail)"));
    f.health.note(fault::loading, f.now + 10s);
    CHECK(f.lines.size() == 3);
}

TEST_CASE("an outage that comes and goes every second does not flood the log") {
    fixture f;
    for (int i = 0; i < 9; ++i) {
        f.health.outage(fault::wrongpass, f.now + i * 1s);
        f.health.connected(f.now + i * 1s);
    }
    REQUIRE(f.lines.size() == 2);
    CHECK(f.lines[0] == "redis redis://h:6379: breaker open: requests go on without the store; asking once a second");
    CHECK(f.lines[1] == "redis redis://h:6379: serves again");
}

TEST_CASE("a log that throws harms nobody") {
    monitor health("x", [](std::string_view) { throw 1; });
    health.note(fault::oom, monitor::time_point{1h});
    CHECK(health.count(fault::oom) == 1);
}

TEST_CASE("reconnecting backs off with jitter and never beyond half a second") {
    CHECK(reconnect_delay(0, 12345) == 0ms);
    CHECK(reconnect_delay(1, 12345) == 0ms);
    for (std::uint32_t random = 0; random < 2000; ++random) {
        CHECK(reconnect_delay(2, random) >= 10ms);
        CHECK(reconnect_delay(2, random) <= 20ms);
        CHECK(reconnect_delay(6, random) >= 160ms);
        CHECK(reconnect_delay(UINT32_MAX, random) <= 500ms);
        CHECK(reconnect_delay(UINT32_MAX, random) >= 250ms);
    }
}
