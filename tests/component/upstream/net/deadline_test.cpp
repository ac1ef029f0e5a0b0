#include "upstream/net/deadline.hpp"

#include <doctest/doctest.h>
#include <boost/asio/post.hpp>

using namespace idem::upstream::net;
using namespace std::chrono_literals;

namespace {

struct probe {
    explicit probe(asio::io_context& on) : limit(on.get_executor(), &probe::fire, this) {}
    static void fire(void* self) noexcept { static_cast<probe*>(self)->at = clock::now(); }
    std::optional<time_point> at;
    deadline limit;
};

void run_until(asio::io_context& context, const bool& done) {
    const auto work = asio::make_work_guard(context);
    while (!done) context.run_one();
}

}  // namespace

TEST_CASE("deadlines of both precisions fire after their time, in order of time") {
    asio::io_context context(1);
    probe fine(context), coarse(context), late(context);
    const time_point start = clock::now();
    coarse.limit.arm(start + 60ms);
    late.limit.arm(200ms);
    fine.limit.arm(start + 5ms, precision::fine);
    context.run();
    REQUIRE(fine.at);
    REQUIRE(coarse.at);
    REQUIRE(late.at);
    CHECK(*fine.at >= start + 5ms);
    CHECK(*coarse.at >= start + 60ms);
    CHECK(*late.at >= start + 200ms);
    CHECK(*fine.at < *coarse.at);
    CHECK(*coarse.at < *late.at);
    CHECK(coarse.limit.expired());
}

TEST_CASE("disarming the last deadline lets the context end") {
    asio::io_context context(1);
    probe p(context);
    p.limit.arm(1h);
    asio::post(context, [&] { p.limit.disarm(); });
    context.run();
    CHECK_FALSE(p.at);
}

TEST_CASE("a deadline armed after an idle time is on time") {
    asio::io_context context(1);
    probe p(context);
    for (int i = 0; i < 3; ++i) {
        const time_point due = clock::now() + 10ms;
        p.at.reset();
        p.limit.arm(due, i % 2 == 0 ? precision::fine : precision::coarse);
        context.run();
        context.restart();
        REQUIRE(p.at);
        CHECK(*p.at >= due);
    }
}

TEST_CASE("never is never, and saturates") {
    asio::io_context context(1);
    probe never(context), soon(context);
    never.limit.arm(duration::max());
    bool done = false;
    timer t(context.get_executor(), 120ms);
    t.async_wait([&](error_code) { done = true; });
    soon.limit.arm(1ms);
    run_until(context, done);
    CHECK_FALSE(never.at);
    CHECK(soon.at);
}

TEST_CASE("a deadline may outlive its context's run, and the context") {
    std::optional<probe> p;
    {
        asio::io_context context(1);
        p.emplace(context);
        p->limit.arm(1h);
    }
    CHECK_FALSE(p->limit.armed());
}
