#include "upstream/net/deadline_wheel.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <deque>
#include <functional>

using namespace idem::upstream::net;
using namespace std::chrono_literals;
using clock_type = deadline_wheel::clock;

namespace {

const clock_type::time_point start{1000h};

struct probe {
    probe() : node(&probe::fire, this) {}
    static void fire(void* self) noexcept {
        auto& p = *static_cast<probe*>(self);
        ++p.fired;
        if (p.then) p.then();
    }
    int fired = 0;
    std::function<void()> then;
    deadline_node node;
};

}  // namespace

TEST_CASE("expires once, at the first tick not before its time") {
    deadline_wheel wheel(50ms, start);
    probe p;
    wheel.arm(p.node, start + 120ms);
    CHECK(wheel.next_look() == start + 150ms);
    wheel.advance(start + 149ms);
    CHECK(p.fired == 0);
    CHECK(p.node.armed());
    wheel.advance(start + 150ms);
    CHECK(p.fired == 1);
    CHECK(p.node.expired());
    CHECK_FALSE(p.node.armed());
    CHECK_FALSE(wheel.next_look());
    wheel.advance(start + 1h);
    CHECK(p.fired == 1);
}

TEST_CASE("arming anew extends or shortens, disarming silences") {
    deadline_wheel wheel(50ms, start);
    probe p;
    wheel.arm(p.node, start + 100ms);
    wheel.arm(p.node, start + 10s);
    wheel.advance(start + 9s);
    CHECK(p.fired == 0);
    wheel.arm(p.node, start + 9100ms);
    wheel.advance(start + 9100ms);
    CHECK(p.fired == 1);
    wheel.arm(p.node, start + 10s);
    CHECK_FALSE(p.node.expired());
    wheel.disarm(p.node);
    CHECK(wheel.armed() == 0);
    wheel.advance(start + 20s);
    CHECK(p.fired == 1);
}

TEST_CASE("waits longer than one turn of the wheel") {
    deadline_wheel wheel(50ms, start);
    probe p;
    wheel.arm(p.node, start + 15min);
    for (auto t = 0ms; t < 15min; t += 700ms) wheel.advance(start + t);
    CHECK(p.fired == 0);
    wheel.advance(start + 15min);
    CHECK(p.fired == 1);
    wheel.arm(p.node, clock_type::time_point::max());
    wheel.advance(start + 1000h);
    CHECK(p.fired == 1);
    CHECK(p.node.armed());
}

TEST_CASE("a callback may arm, disarm and destroy nodes of its own slot") {
    deadline_wheel wheel(50ms, start);
    probe first, last;
    auto victim = std::make_unique<probe>();
    probe silenced;
    for (probe* p : {&first, victim.get(), &silenced, &last}) wheel.arm(p->node, start + 50ms);
    last.then = [&] {  // slots are stacks: the node linked last goes first
        victim.reset();
        wheel.disarm(silenced.node);
        wheel.arm(last.node, start + 60ms);
        wheel.advance(start + 1h);  // refused inside a callback
    };
    wheel.advance(start + 50ms);
    CHECK(last.fired == 1);
    CHECK(first.fired == 1);
    CHECK(silenced.fired == 0);
    last.then = nullptr;
    wheel.advance(start + 100ms);
    CHECK(last.fired == 2);
}

TEST_CASE("a wheel that dies lets go of its nodes") {
    probe p;
    {
        deadline_wheel wheel(50ms, start);
        wheel.arm(p.node, start + 1s);
    }
    CHECK_FALSE(p.node.armed());
}

TEST_CASE("equals a naive list of deadlines") {
    rc::check([] {
        deadline_wheel wheel(50ms, start);
        struct model {
            probe p;
            std::optional<clock_type::time_point> due;
            int expected = 0;
        };
        std::deque<model> nodes(4);
        auto now = start;
        const auto steps = *rc::gen::container<std::vector<std::tuple<int, int, int>>>(
            rc::gen::tuple(rc::gen::inRange(0, 4), rc::gen::inRange(0, 4), rc::gen::inRange(-100, 60000)));
        for (const auto& [what, which, amount] : steps) {
            model& m = nodes[static_cast<std::size_t>(which)];
            const auto span = std::chrono::milliseconds(amount);
            if (what == 0) {
                wheel.disarm(m.p.node);
                m.due.reset();
            } else if (what == 1 && amount > 0) {
                now += span;
                wheel.advance(now);
                for (model& each : nodes) {
                    // Ticks are multiples of 50 ms; what was already past when armed goes at the next tick.
                    if (each.due && *each.due <= now - (now.time_since_epoch() % 50ms)) {
                        each.due.reset();
                        ++each.expected;
                    }
                }
            } else {
                wheel.arm(m.p.node, now + span);
                m.due = std::max(now + span, now - (now.time_since_epoch() % 50ms) + 1ns);
            }
            std::size_t armed = 0;
            for (const model& each : nodes) {
                RC_ASSERT(each.p.fired == each.expected);
                RC_ASSERT(each.p.node.armed() == each.due.has_value());
                armed += each.due ? 1 : 0;
            }
            RC_ASSERT(wheel.armed() == armed);
            if (armed > 0) RC_ASSERT(wheel.next_look().has_value());
        }
    });
}
