#include "gateway/shadow/desk.hpp"

#include <doctest/doctest.h>

using namespace idem;
namespace shadow = idem::gateway::shadow;
namespace pipeline = idem::gateway::pipeline;

namespace {

struct world {
    pipeline::upstream_plan upstream;
    pipeline::route_plan route;
    explicit world(std::size_t index) {
        upstream.index = index;
        route.upstream = &upstream;
    }
    [[nodiscard]] shadow::job job(std::string body) const {
        shadow::job j;
        j.order = std::make_unique<pipeline::fill_order>();
        j.order->route = &route;
        j.order->body = std::move(body);
        return j;
    }
};

}  // namespace

TEST_CASE("jobs come out in order, by upstream") {
    const world first(0), second(1);
    shadow::desk desk(2);
    desk.offer(second.job("a"));
    desk.offer(second.job("b"));
    desk.offer(first.job("c"));
    CHECK(desk.take(1)->order->body == "a");
    CHECK(desk.take(1)->order->body == "b");
    CHECK_FALSE(desk.take(1));
    CHECK(desk.take(0)->order->body == "c");
}

TEST_CASE("a full queue drops and counts, by number and by bytes") {
    const world one(0);
    shadow::desk desk(1);
    for (std::size_t i = 0; i < shadow::desk::most_jobs + 3; ++i) desk.offer(one.job("x"));
    CHECK(desk.dropped(0) == 3);
    CHECK(desk.dropped(0) == 0);
    std::size_t held = 0;
    while (desk.take(0)) ++held;
    CHECK(held == shadow::desk::most_jobs);
    const std::string third(shadow::desk::most_bytes / 3 + 1, 'x');
    for (int i = 0; i < 3; ++i) desk.offer(one.job(third));
    CHECK(desk.dropped(0) == 1);
    CHECK(desk.take(0));
    desk.offer(one.job(third));
    CHECK(desk.dropped(0) == 0);
}

TEST_CASE("while a queue is full nothing is made for it, and it is counted") {
    const world one(0);
    shadow::desk desk(1);
    std::int64_t now = 0;
    const auto affords = [&] { return desk.affords(0, 1'000'000, now += 1000); };
    for (std::size_t i = 0; i < shadow::desk::most_jobs; ++i) {
        CHECK(affords());
        desk.offer(one.job("x"));
    }
    CHECK_FALSE(affords());
    CHECK_FALSE(affords());
    CHECK(desk.dropped(0) == 2);
    CHECK(desk.take(0));
    CHECK(affords());
    // By bytes it is known when the first one does not fit.
    while (desk.take(0)) {
    }
    desk.offer(one.job(std::string(shadow::desk::most_bytes, 'x')));
    CHECK(affords());
    desk.offer(one.job("y"));
    CHECK_FALSE(affords());
    CHECK(desk.dropped(0) == 2);
    CHECK(desk.take(0));
    CHECK(affords());
    // What would never fit keeps nobody else out.
    desk.offer(one.job(std::string(shadow::desk::most_bytes + 1, 'x')));
    CHECK(affords());
    CHECK_FALSE(desk.affords(0, 0, now));
    CHECK(desk.dropped(0) == 1);
}

TEST_CASE("the answers that a job keeps count as its body does") {
    const world one(0);
    shadow::desk desk(1);
    const auto with_answers = [&](std::size_t bytes) {
        auto e = std::make_shared<cache::entry>();
        e->body = std::string(bytes, 'x');
        shadow::job j = one.job("");
        j.stored = e;
        j.again = e;
        return j;
    };
    desk.offer(with_answers(shadow::desk::most_bytes / 2));
    CHECK(desk.dropped(0) == 0);
    desk.offer(with_answers(1));
    CHECK(desk.dropped(0) == 1);
    CHECK(desk.take(0));
    desk.offer(with_answers(1));
    CHECK(desk.dropped(0) == 0);
}

TEST_CASE("what has waited too long is forgotten and counted") {
    using namespace std::chrono_literals;
    const world one(0);
    shadow::desk desk(1);
    const upstream::net::time_point begin{};
    for (int i = 0; i < 4; ++i) {
        shadow::job j = one.job("x");
        j.taken = begin + i * 1s;
        desk.offer(std::move(j));
    }
    desk.forget(0, begin + 2s);
    CHECK(desk.dropped(0) == 2);
    CHECK(desk.take(0)->taken == begin + 2s);
    desk.forget(0, begin + 9s);
    CHECK(desk.dropped(0) == 1);
    CHECK_FALSE(desk.take(0));
}

TEST_CASE("a closed desk forgets what waits and takes nothing") {
    const world one(0);
    shadow::desk desk(1);
    desk.offer(one.job("x"));
    desk.close();
    CHECK_FALSE(desk.take(0));
    desk.offer(one.job("y"));
    CHECK_FALSE(desk.take(0));
}
