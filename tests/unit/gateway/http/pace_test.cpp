#include "gateway/http/pace.hpp"

#include <doctest/doctest.h>

using namespace idem::gateway::http;
using namespace std::chrono_literals;

namespace {

server_limits limits() {
    server_limits l;
    l.body_idle = 30s;
    l.body_min_rate = 1000;
    l.body_grace = 10s;
    l.body_total = 100s;
    return l;
}

}  // namespace

TEST_CASE("the first wait ends by the idle limit or the grace time") {
    const net::time_point start{};
    pace p;
    CHECK(p.wait(start, limits()) == start + 10s);
    server_limits without_rate = limits();
    without_rate.body_min_rate = 0;
    pace q;
    CHECK(q.wait(start, without_rate) == start + 30s);
}

TEST_CASE("bytes earn time at the minimum rate") {
    net::time_point now{};
    pace p;
    (void)p.wait(now, limits());
    now += 5s;
    p.arrived(now, 20000);
    CHECK(p.wait(now, limits()) == now + 25s);  // 10 s grace + 20 s earned - 5 s used
    now += 20s;
    p.arrived(now, 0);
    CHECK(p.wait(now, limits()) == now + 5s);
}

TEST_CASE("the ceiling holds however fast the body is, and never lies in the past") {
    net::time_point now{};
    pace p;
    for (int i = 0; i < 4; ++i) {
        (void)p.wait(now, limits());
        now += 24s;
        p.arrived(now, 1'000'000);
    }
    CHECK(p.wait(now, limits()) == now + 4s);
    now += 10s;
    p.arrived(now, 1);
    CHECK(p.wait(now, limits()) == now);
}

TEST_CASE("time between waits is not the client's") {
    net::time_point now{};
    pace p;
    (void)p.wait(now, limits());
    p.arrived(now, 0);
    now += 1000s;
    CHECK(p.wait(now, limits()) == now + 10s);
}
