#include "upstream/route/slot_queue.hpp"

#include <doctest/doctest.h>

#include <rapidcheck.h>
#include <algorithm>
#include <map>
#include <vector>

using namespace idem::upstream::route;

namespace {

void* name(std::uintptr_t n) {
    return reinterpret_cast<void*>(n);
}
std::uintptr_t number(const std::optional<slot_queue::place>& p) {
    return p ? reinterpret_cast<std::uintptr_t>(p->owner) : 0;
}

}  // namespace

TEST_CASE("one at a time, first come, first served") {
    slot_queue q({.at_once = 1});
    CHECK(q.begin(call_kind::greedy));
    CHECK_FALSE(q.begin(call_kind::sampled));
    const auto one = q.queue(call_kind::sampled, name(1));
    const auto two = q.queue(call_kind::greedy, name(2));
    const auto three = q.queue(call_kind::greedy, name(3));
    REQUIRE(one);
    REQUIRE(two);
    REQUIRE(three);
    CHECK_FALSE(q.next());
    q.leave(*two);
    CHECK(q.waiting() == 2);
    q.end();
    CHECK_FALSE(q.begin(call_kind::greedy));  // others were first
    CHECK(number(q.next()) == 1);
    CHECK_FALSE(q.next());
    q.end();
    CHECK(number(q.next()) == 3);
    q.end();
    CHECK(q.in_flight() == 0);
    CHECK(q.begin(call_kind::greedy));
}

TEST_CASE("a full queue takes nobody, and room in it takes one more") {
    slot_queue q({.at_once = 1, .queue = 2});
    CHECK(q.begin(call_kind::greedy));
    const auto one = q.queue(call_kind::greedy, name(1));
    REQUIRE(one);
    CHECK(q.queue(call_kind::greedy, name(2)));
    CHECK_FALSE(q.queue(call_kind::greedy, name(3)));
    q.leave(*one);
    CHECK(q.queue(call_kind::greedy, name(4)));
    slot_queue none({.at_once = 1, .queue = 0});
    CHECK(none.begin(call_kind::greedy));
    CHECK_FALSE(none.queue(call_kind::greedy, name(1)));
}

TEST_CASE("while shut nobody begins, and who has begun goes on") {
    slot_queue q({.at_once = 2});
    CHECK(q.begin(call_kind::greedy));
    q.open(false);
    CHECK_FALSE(q.begin(call_kind::greedy));
    CHECK(q.queue(call_kind::greedy, name(1)));
    CHECK_FALSE(q.next());
    CHECK(q.in_flight() == 1);
    q.open(true);
    CHECK(number(q.next()) == 1);
}

TEST_CASE("kinds take turns, and who waits at a turn's beginning is part of it") {
    slot_queue q({.no_mixing = true});
    CHECK(q.begin(call_kind::greedy));
    CHECK(q.begin(call_kind::greedy));
    CHECK_FALSE(q.begin(call_kind::sampled));
    CHECK(q.queue(call_kind::sampled, name(1)));
    CHECK_FALSE(q.begin(call_kind::greedy));  // a sampled one waits
    CHECK(q.queue(call_kind::greedy, name(2)));
    CHECK(q.queue(call_kind::sampled, name(3)));
    CHECK_FALSE(q.next());
    q.end();
    CHECK_FALSE(q.next());
    q.end();
    CHECK(number(q.next()) == 1);
    CHECK(number(q.next()) == 3);
    CHECK(q.queue(call_kind::sampled, name(4)));  // came after the turn began, and 2 waits
    CHECK_FALSE(q.next());
    q.end();
    q.end();
    CHECK(number(q.next()) == 2);
    CHECK_FALSE(q.next());
    q.end();
    CHECK(number(q.next()) == 4);
    CHECK_FALSE(q.queue(call_kind::sampled, name(5)) == std::nullopt);
    CHECK(number(q.next()) == 5);  // nobody of the other kind waits
}

// Any history of arrivals, departures and ends: never more than may run, never two kinds, in order within a kind,
// nobody forgotten, and nobody passed by more turns of the other kind than one.
TEST_CASE("properties of every history") {
    rc::check([] {
        const auto at_once = *rc::gen::inRange<std::size_t>(0, 4);
        const bool no_mixing = *rc::gen::arbitrary<bool>();
        slot_queue q({.at_once = at_once, .no_mixing = no_mixing, .queue = 1000});
        struct waiting {
            slot_queue::ticket at;
            call_kind kind;
            std::size_t passed_in = 0;  // the turn in which somebody of the other kind who came later began
        };
        std::map<std::uintptr_t, waiting> queue;
        std::vector<call_kind> running;
        std::uintptr_t last = 0;
        std::size_t turn = 0;
        const auto began = [&](std::uintptr_t n, call_kind kind) {
            turn += running.empty() ? 1 : 0;
            running.push_back(kind);
            RC_ASSERT(at_once == 0 || running.size() <= at_once);
            if (no_mixing) RC_ASSERT(std::ranges::all_of(running, [&](call_kind k) { return k == running.front(); }));
            for (auto& [other, w] : queue) {
                if (n < other) continue;
                RC_ASSERT(no_mixing && w.kind != kind);
                RC_ASSERT(w.passed_in == 0 || w.passed_in == turn);
                w.passed_in = turn;
            }
        };
        const auto admit = [&] {
            while (const auto p = q.next()) {
                const auto n = reinterpret_cast<std::uintptr_t>(p->owner);
                RC_ASSERT(queue.contains(n));
                queue.erase(n);
                began(n, p->kind);
            }
            RC_ASSERT(q.waiting() == queue.size());
            RC_ASSERT(q.in_flight() == running.size());
            if (running.empty()) RC_ASSERT(queue.empty());  // no lost wake-up
            // Nor is there room that nobody uses while everybody who waits is of the kind that runs.
            if (!no_mixing && at_once == 0) RC_ASSERT(queue.empty());
        };
        const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 10));
        for (const int step : steps) {
            if (step < 5) {
                const auto kind = step % 2 == 0 ? call_kind::greedy : call_kind::sampled;
                ++last;
                if (q.begin(kind)) {
                    began(last, kind);
                } else {
                    const auto at = q.queue(kind, name(last));
                    RC_ASSERT(at.has_value());
                    queue.emplace(last, waiting{*at, kind});
                }
            } else if (step < 9) {
                if (running.empty()) continue;
                running.pop_back();
                q.end();
            } else if (!queue.empty()) {
                q.leave(queue.begin()->second.at);
                queue.erase(queue.begin());
            }
            admit();
        }
        while (!running.empty()) {
            running.pop_back();
            q.end();
            admit();
        }
        RC_ASSERT(queue.empty());
    });
}
