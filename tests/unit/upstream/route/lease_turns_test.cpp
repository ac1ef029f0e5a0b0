#include "upstream/route/lease_turns.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

using namespace idem::upstream::route;
using namespace std::chrono_literals;
using time_point = lease_turns::time_point;
using step = lease_turns::step;
using answer = lease_turns::answer;

namespace {

const time_point start = time_point(1h);
constexpr lease_turns::demand none{}, one_waits{1, 0}, one_runs{0, 1};

bool asks(lease_turns& l, lease_turns::demand d, time_point now) {
    return l.next(d, now).what == step::ask;
}

}  // namespace

TEST_CASE("without work nothing is asked, with work the gate opens when the lease is held") {
    lease_turns l({});
    CHECK(l.next(none, start).what == step::wait);
    CHECK(l.next(none, start).until == time_point::max());
    CHECK_FALSE(l.state().open);
    CHECK(asks(l, one_waits, start));
    CHECK_FALSE(l.state().open);
    l.answered(answer::taken, false, start, start + 1ms);
    CHECK_FALSE(l.state().open);
    CHECK(l.next(one_waits, start + 2ms).until == start + 101ms);
    CHECK(asks(l, one_waits, start + 101ms));
    l.answered(answer::held, false, start + 101ms, start + 102ms);
    CHECK(l.state().open);
    CHECK_FALSE(l.state().unprotected);
    CHECK(l.state().valid_until == start + 101ms + 10s);
    CHECK(l.state().lapses == 0);
}

TEST_CASE("it is renewed while there is work and given back after a moment without") {
    lease_turns l({});
    REQUIRE(asks(l, one_waits, start));
    l.answered(answer::held, false, start, start);
    CHECK(l.next(one_runs, start + 1ms).until == start + 500ms);
    CHECK(asks(l, one_runs, start + 500ms));
    l.answered(answer::held, false, start + 500ms, start + 501ms);
    CHECK(l.state().valid_until == start + 10'500ms);
    CHECK(l.next(none, start + 600ms).until == start + 700ms);
    CHECK(l.next(one_runs, start + 650ms).what == step::wait);  // work again: the moment begins anew
    CHECK(l.next(none, start + 690ms).until == start + 790ms);
    CHECK(l.next(none, start + 790ms).what == step::give_back);
    CHECK_FALSE(l.state().open);                                // nothing begins while it is given back
    CHECK(l.next(one_runs, start + 790ms).what == step::wait);  // something had begun before: it is kept
    CHECK(l.state().open);
    CHECK(l.next(none, start + 791ms).what == step::wait);
    CHECK(l.next(none, start + 891ms).what == step::give_back);
    l.given_back(start + 892ms);
    CHECK_FALSE(l.state().open);
    CHECK(asks(l, one_waits, start + 893ms));  // nobody else wanted it
}

TEST_CASE("who is wanted begins nothing new after its turn, gives back, and asks last") {
    lease_turns l({});
    REQUIRE(asks(l, one_waits, start));
    l.answered(answer::held, true, start, start);
    const lease_turns::demand busy{3, 1};
    CHECK(l.next(busy, start + 400ms).what == step::wait);
    CHECK(l.state().open);
    CHECK(asks(l, busy, start + 500ms));
    l.answered(answer::held, true, start + 500ms, start + 500ms);
    CHECK(l.next(busy, start + 900ms).until == start + 1s);
    CHECK(l.next(busy, start + 1s).what == step::ask);  // renewal goes on while the last call runs
    CHECK_FALSE(l.state().open);
    l.answered(answer::held, true, start + 1s, start + 1s);
    CHECK(l.next(busy, start + 1100ms).what == step::wait);
    CHECK(l.next({3, 0}, start + 1200ms).what == step::give_back);
    l.given_back(start + 1200ms);
    CHECK(l.next({3, 0}, start + 1201ms).until == start + 1400ms);
    CHECK(asks(l, {3, 0}, start + 1400ms));
}

TEST_CASE("a store that fails lets calls go on, unprotected") {
    lease_turns l({});
    REQUIRE(asks(l, one_waits, start));
    l.answered(answer::failed, false, start, start + 500ms);
    CHECK(l.state().open);
    CHECK(l.state().unprotected);
    CHECK(l.state().lapses == 1);
    CHECK(l.next(one_runs, start + 600ms).what == step::wait);
    CHECK(asks(l, one_runs, start + 1s));
    l.answered(answer::failed, false, start + 1s, start + 1s);
    CHECK(l.state().lapses == 1);  // still the same
    CHECK(asks(l, one_runs, start + 2s));
    l.answered(answer::taken, false, start + 2s, start + 2s);
    CHECK_FALSE(l.state().open);  // somebody has it: wait for them
    CHECK(asks(l, one_waits, start + 3s));
    l.answered(answer::held, false, start + 3s, start + 3s);
    CHECK(l.state().open);
    CHECK_FALSE(l.state().unprotected);
}

TEST_CASE("a renewal that fails changes nothing until the lease is over") {
    lease_turns l({});
    REQUIRE(asks(l, one_waits, start));
    l.answered(answer::held, false, start, start);
    for (auto now = start + 500ms; now <= start + 10s; now += 500ms) {
        REQUIRE(asks(l, one_runs, now));
        l.answered(answer::failed, false, now, now);
        CHECK(l.state().open);
        CHECK_FALSE(l.state().unprotected);
        CHECK(l.state().lapses == 0);
    }
    CHECK(asks(l, one_runs, start + 10s + 1ms));
    // It may be somebody else's by now: nothing begins before the store has said.
    CHECK_FALSE(l.state().open);
    CHECK(l.state().lapses == 1);
    CHECK(l.state().valid_until == time_point{});
    l.answered(answer::failed, false, start + 10s + 1ms, start + 11s);
    CHECK(l.state().open);
    CHECK(l.state().unprotected);
    CHECK(l.state().lapses == 1);  // still the same
}

TEST_CASE("a holder that was stopped has lapsed, whether or not somebody took the lease") {
    for (const answer then : {answer::held, answer::taken}) {
        lease_turns l({});
        REQUIRE(asks(l, one_waits, start));
        l.answered(answer::held, false, start, start);
        REQUIRE(asks(l, one_runs, start + 500ms));
        // Stopped here, with the question under way.
        l.answered(then, false, start + 11s, start + 11s);
        CHECK(l.state().lapses == 1);
        CHECK(l.state().open == (then == answer::held));
    }
    // Stopped between two questions, with somebody waiting.
    for (const answer then : {answer::held, answer::taken}) {
        lease_turns l({});
        REQUIRE(asks(l, one_waits, start));
        l.answered(answer::held, false, start, start);
        CHECK(asks(l, {1, 1}, start + 11s));
        CHECK_FALSE(l.state().open);
        CHECK(l.state().lapses == 1);
        l.answered(then, false, start + 11s, start + 11s);
        CHECK(l.state().open == (then == answer::held));
        CHECK(l.state().lapses == 1);
    }
    lease_turns idle({});
    REQUIRE(asks(idle, one_waits, start));
    idle.answered(answer::held, false, start, start);
    CHECK(idle.next(none, start + 11s).what == step::wait);
    CHECK(idle.state().lapses == 0);  // there was no work
}

// Several gateways, one lease, a clock that only the test moves: calls never overlap, nobody starves, and a gateway
// that dies costs the others one lease's length.
TEST_CASE("gateways take turns") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        std::mt19937 random(seed);
        constexpr std::size_t count = 3;
        struct gateway {
            lease_turns turns{lease_rules{}};
            std::size_t waiting = 1000, running = 0;
            time_point ends{};
            std::size_t served = 0;
            time_point last_served = start;
            std::chrono::milliseconds longest_wait{0};
            bool dead = false;
        };
        std::vector<gateway> all(count);
        std::optional<std::size_t> holder, next;
        time_point until{};
        for (time_point now = start; now < start + 120s; now += 5ms) {
            if (now == start + 60s) all[0].dead = true;
            for (std::size_t i = 0; i < count; ++i) {
                gateway& g = all[i];
                if (g.dead) continue;
                if (g.running > 0 && now >= g.ends) {
                    g.running = 0;
                    ++g.served;
                }
                for (int turn = 0; turn < 3; ++turn) {
                    const auto todo = g.turns.next({g.waiting, g.running}, now);
                    if (todo.what == step::wait) break;
                    if (todo.what == step::ask) {
                        if (holder && *holder != i && now < until) {
                            if (!next) next = i;
                            g.turns.answered(answer::taken, false, now, now);
                        } else {
                            if (holder != i || now >= until) next.reset();
                            holder = i;
                            until = now + 10s;
                            g.turns.answered(answer::held, next.has_value(), now, now);
                        }
                    } else {
                        REQUIRE(g.running == 0);
                        if (holder == i && now < until) {
                            holder = next;
                            if (next) until = now + 500ms;
                            next.reset();
                        }
                        g.turns.given_back(now);
                    }
                }
                if (g.turns.state().open && g.running == 0 && g.waiting > 0) {
                    --g.waiting;
                    g.running = 1;
                    g.ends = now + std::chrono::milliseconds(20 + random() % 2000);
                    REQUIRE_FALSE(g.turns.state().unprotected);
                    g.longest_wait = std::max(
                        g.longest_wait, std::chrono::duration_cast<std::chrono::milliseconds>(now - g.last_served));
                    g.last_served = now;
                }
            }
            std::size_t running = 0;
            for (const gateway& g : all) running += g.dead ? 0 : g.running;
            REQUIRE(running <= 1);
        }
        for (std::size_t i = 1; i < count; ++i) {
            CHECK(all[i].turns.state().lapses == 0);
            CHECK(all[i].served > 15);
            CHECK(all[i].longest_wait < 20s);  // the others' turns, and once the dead one's lease
        }
        CHECK(all[0].served > 5);
    }
}

namespace {

using past = lease_turns::past;

// Asks as long as it is told to look, and answers with what `engine` says.
template <class Engine>
time_point look_on(lease_turns& l, lease_turns::demand d, time_point now, Engine engine) {
    for (;;) {
        const auto todo = l.next(d, now);
        if (todo.what == step::look) {
            CHECK_FALSE(l.state().open);
            CHECK_FALSE(l.state().settled);
            l.looked(engine(now), now);
        } else if (todo.what == step::ask) {
            l.answered(answer::held, false, now, now);
        } else {
            if (l.state().settled) return now;
            REQUIRE(todo.until > now);
            now = todo.until;
        }
    }
}

}  // namespace

TEST_CASE("after a lapse nothing begins before the engine is idle") {
    lease_turns l({});
    REQUIRE(asks(l, one_waits, start));
    l.answered(answer::held, false, start, start, past::lapsed);
    CHECK_FALSE(l.state().open);
    const auto ended = look_on(l, one_waits, start, [](time_point now) { return std::optional(now >= start + 3s); });
    CHECK(ended > start + 3s);
    CHECK(ended < start + 5s);
    CHECK(l.state().open);
    CHECK_FALSE(l.take_doubt());
    CHECK(l.state().lapses == 0);
}

TEST_CASE("an engine that stays at work, or does not tell, leaves a doubt after a lapse") {
    for (const bool tells : {true, false}) {
        lease_turns l({});
        REQUIRE(asks(l, one_waits, start));
        l.answered(answer::held, false, start, start, past::lapsed);
        const auto ended =
            look_on(l, one_waits, start, [&](time_point) { return tells ? std::optional(false) : std::nullopt; });
        CHECK(ended >= start + (tells ? 10s : 2s));
        CHECK(ended <= start + (tells ? 11s : 3s));
        CHECK(l.state().open);
        CHECK(l.take_doubt());
        CHECK_FALSE(l.take_doubt());
    }
}

TEST_CASE("a replica that nobody is known to have used is asked once") {
    for (const std::optional<bool> said : {std::optional(true), std::optional<bool>()}) {
        lease_turns l({});
        REQUIRE(asks(l, one_waits, start));
        l.answered(answer::held, false, start, start, past::unknown);
        const auto ended = look_on(l, one_waits, start, [&](time_point) { return said; });
        CHECK(ended <= start + 100ms);
        CHECK(l.state().open);
        CHECK_FALSE(l.take_doubt());
    }
    // Somebody works there of whom the store does not know.
    lease_turns l({});
    REQUIRE(asks(l, one_waits, start));
    l.answered(answer::held, false, start, start, past::unknown);
    CHECK(look_on(l, one_waits, start, [](time_point) { return std::optional(false); }) >= start + 10s);
    CHECK(l.take_doubt());
}

TEST_CASE("looks wait for calls of our own, are not given up with the lease, and are not cut short by a rest") {
    lease_turns l({});
    REQUIRE(asks(l, one_waits, start));
    l.answered(answer::held, false, start, start, past::lapsed);
    CHECK(l.next({1, 1}, start + 100ms).what == step::wait);  // it began before
    CHECK(l.next({1, 1}, start + 400ms).until == start + 500ms);
    CHECK(l.next({0, 0}, start + 400ms).what == step::wait);
    CHECK(l.next({0, 0}, start + 421ms).what == step::look);  // the one that waited has gone
    l.looked(false, start + 421ms);
    // The store is slow: the lease is over, and nobody else took it.
    REQUIRE(asks(l, one_waits, start + 11s));
    CHECK_FALSE(l.state().settled);
    l.answered(answer::held, false, start + 11s, start + 11s, past::settled);
    CHECK_FALSE(l.state().open);
    (void)look_on(l, one_waits, start + 11s, [](time_point) { return std::optional(true); });
    CHECK(l.state().open);
    // A store that has forgotten whose it is has forgotten about us alone.
    REQUIRE(asks(l, one_runs, start + 14s));
    l.answered(answer::held, false, start + 14s, start + 14s, past::unknown);
    CHECK(l.state().open);
}
