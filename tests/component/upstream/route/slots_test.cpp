// Slots from several threads at once, as the gateway's I/O threads use them.
#include "upstream/route/slots.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "upstream/net/task_group.hpp"

using namespace idem;
using namespace idem::upstream;
using namespace idem::upstream::route;
using namespace std::chrono_literals;

namespace {

class io_thread {
public:
    io_thread() : guard_(context_.get_executor()), thread_([this] { context_.run(); }) {}
    ~io_thread() {
        guard_.reset();
        thread_.join();
    }
    io_thread(const io_thread&) = delete;
    io_thread& operator=(const io_thread&) = delete;
    [[nodiscard]] net::executor executor() { return context_.get_executor(); }
    template <class T>
    [[nodiscard]] std::future<T> start(net::task<T> work) {
        return boost::asio::co_spawn(context_, std::move(work), boost::asio::use_future);
    }

private:
    boost::asio::io_context context_{1};
    boost::asio::executor_work_guard<net::executor> guard_;
    std::thread thread_;
};

struct observed {
    std::atomic<int> now{0}, most{0}, greedy{0}, sampled{0}, served{0};
    std::atomic<bool> mixed{false};
};

net::task<void> calls(net::executor on, slots& of, call_kind kind, int count, observed& seen) {
    const bool gone = false;
    net::timer work(on);
    for (int i = 0; i < count; ++i) {
        auto wake = std::make_shared<net::event>(on);
        slots::taken got = co_await of.take(0, kind, net::time_point::max(), std::move(wake), gone);
        if (!got.held) co_return;
        const int running = ++seen.now;
        int most = seen.most;
        while (running > most && !seen.most.compare_exchange_weak(most, running)) {
        }
        auto& mine = kind == call_kind::greedy ? seen.greedy : seen.sampled;
        auto& other = kind == call_kind::greedy ? seen.sampled : seen.greedy;
        ++mine;
        if (other > 0) seen.mixed = true;
        if (i % 4 == 0) {
            work.expires_after(50us);
            auto [ec] = co_await work.async_wait(net::use_task);
            (void)ec;
        }
        --mine;
        --seen.now;
        ++seen.served;
    }
}

net::task<reason> ask(net::executor on, slots& of, net::duration patience, const bool& gone,
                      std::shared_ptr<net::event> wake = nullptr) {
    if (!wake) wake = std::make_shared<net::event>(on);
    slots::taken got = co_await of.take(0, call_kind::greedy, net::clock::now() + patience, std::move(wake), gone);
    co_return got.why;
}

template <class Condition>
bool eventually(Condition c) {
    const auto until = std::chrono::steady_clock::now() + 30s;
    while (!c()) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::yield();
    }
    return true;
}

}  // namespace

TEST_CASE("serial: never two at once, and everybody comes to it") {
    slots of(1, {.at_once = 1});
    observed seen;
    std::vector<std::unique_ptr<io_thread>> threads;
    for (int i = 0; i < 3; ++i) threads.push_back(std::make_unique<io_thread>());
    std::vector<std::future<void>> all;
    for (std::size_t i = 0; i < 60; ++i) {
        io_thread& t = *threads[i % 3];
        all.push_back(t.start(calls(t.executor(), of, i % 2 == 0 ? call_kind::greedy : call_kind::sampled, 20, seen)));
    }
    for (auto& f : all) f.get();
    CHECK(seen.served == 1200);
    CHECK(seen.most == 1);
    CHECK(of.in_flight() == 0);
    CHECK(of.waiting() == 0);
}

TEST_CASE("a cap holds, and kinds do not mix") {
    for (const slot_rules rules :
         {slot_rules{.at_once = 4, .no_mixing = true}, slot_rules{.no_mixing = true}, slot_rules{.at_once = 4}}) {
        slots of(1, rules);
        observed seen;
        std::vector<std::unique_ptr<io_thread>> threads;
        for (int i = 0; i < 2; ++i) threads.push_back(std::make_unique<io_thread>());
        std::vector<std::future<void>> all;
        for (std::size_t i = 0; i < 40; ++i) {
            io_thread& t = *threads[i % 2];
            all.push_back(
                t.start(calls(t.executor(), of, i % 4 < 2 ? call_kind::greedy : call_kind::sampled, 20, seen)));
        }
        for (auto& f : all) f.get();
        CHECK(seen.served == 800);
        if (rules.at_once != 0) CHECK(seen.most <= 4);
        if (rules.no_mixing) CHECK_FALSE(seen.mixed);
    }
}

TEST_CASE("where nothing is limited nobody waits") {
    slots of(2, {});
    slot a = of.try_take(0, call_kind::greedy, net::clock::now());
    slot b = of.try_take(0, call_kind::sampled, net::clock::now());
    CHECK(a);
    CHECK(b);
    CHECK(of.in_flight() == 2);
    a = std::move(b);
    CHECK(of.in_flight() == 1);
    CHECK(a.flaw(net::clock::now()) == reason::none);
    a.give_back();
    a.give_back();
    CHECK(of.in_flight() == 0);
}

TEST_CASE("a queue that is full, a wait that is too long, a caller who leaves") {
    slots of(1, {.at_once = 1, .queue = 1});
    io_thread one, two;
    slot held = of.try_take(0, call_kind::greedy, net::clock::now());
    REQUIRE(held);
    const bool stays = false;
    CHECK(one.start(ask(one.executor(), of, 20ms, stays)).get() == reason::queue_timeout);
    CHECK(of.waiting() == 0);

    bool gone = false;
    const auto wake = std::make_shared<net::event>(one.executor());
    auto leaver = one.start(ask(one.executor(), of, 60s, gone, wake));
    REQUIRE(eventually([&] { return of.waiting() == 1; }));
    CHECK(two.start(ask(two.executor(), of, 60s, stays)).get() == reason::queue_full);
    boost::asio::post(one.executor(), [&] {
        gone = true;
        wake->notify();
    });
    CHECK(leaver.get() == reason::client_gone);
    CHECK(of.waiting() == 0);

    auto next = two.start(ask(two.executor(), of, 60s, stays));
    REQUIRE(eventually([&] { return of.waiting() == 1; }));
    held.give_back();
    CHECK(next.get() == reason::none);
    CHECK(of.in_flight() == 0);
}

TEST_CASE("a task that is cancelled while it waits leaves the queue") {
    slots of(1, {.at_once = 1});
    slot held = of.try_take(0, call_kind::greedy, net::clock::now());
    boost::asio::io_context context(1);
    net::task_group group(context.get_executor(), [](std::exception_ptr) {});
    observed seen;
    boost::asio::post(context, [&] {
        group.spawn(calls(context.get_executor(), of, call_kind::greedy, 1, seen));
        CHECK(of.waiting() == 1);
        group.cancel();
    });
    context.run();
    CHECK(group.size() == 0);
    CHECK(of.waiting() == 0);
    CHECK(seen.served == 0);
    held.give_back();
    CHECK(of.in_flight() == 0);
    CHECK(of.try_take(0, call_kind::greedy, net::clock::now()));
}

TEST_CASE("a doubtful replica tells who begins before the doubt is over") {
    slots of(1, {.at_once = 1});
    const net::time_point now = net::clock::now();
    of.doubt(0, now + 1h);
    CHECK(of.doubts() == 1);
    CHECK(of.try_take(0, call_kind::greedy, now).flaw(now) == reason::abort_unconfirmed);
    CHECK(of.try_take(0, call_kind::greedy, now + 1h).flaw(now + 1h) == reason::none);
}

TEST_CASE("under a lease nobody begins before it is held, and a lapse is told to those who run") {
    slots of(1, {.at_once = 1});
    io_thread control, io;
    const auto changed = std::make_shared<net::event>(control.executor());
    of.keep(0, changed);
    const net::time_point now = net::clock::now();
    CHECK_FALSE(of.try_take(0, call_kind::greedy, now));
    const bool stays = false;
    auto waits = io.start(ask(io.executor(), of, 60s, stays));
    REQUIRE(eventually([&] { return of.demand(0).waiting == 1; }));
    of.set_gate(0, {.open = true, .valid_until = now + 1h});
    CHECK(waits.get() == reason::none);

    slot held = of.try_take(0, call_kind::greedy, now);
    REQUIRE(held);
    CHECK(of.demand(0).in_flight == 1);
    CHECK(held.flaw(now) == reason::none);
    of.set_gate(0, {.open = true, .valid_until = now + 2h});  // renewed in time
    CHECK(held.flaw(now + 90min) == reason::none);
    CHECK(held.flaw(now + 3h) == reason::lease_lapsed);  // by our own clock, before the keeper notices
    of.set_gate(0, {.open = true, .valid_until = now + 9h, .lapses = 1});
    CHECK(held.flaw(now) == reason::lease_lapsed);  // ours again, but not all the time
    held.give_back();
    CHECK(of.lapses() == 1);

    // A process that was stopped wakes behind the end of its lease, and whoever waits wakes first.
    of.set_gate(0, {.open = true, .valid_until = now + 1h, .lapses = 1});
    slot before = of.try_take(0, call_kind::greedy, now);
    REQUIRE(before);
    auto late = io.start(ask(io.executor(), of, 60s, stays));
    REQUIRE(eventually([&] { return of.demand(0).waiting == 1; }));
    of.set_gate(0, {.open = true, .valid_until = now - 1ms, .lapses = 1});
    before.give_back();
    CHECK(of.demand(0).waiting == 1);
    CHECK(of.in_flight(0) == 0);
    CHECK_FALSE(of.try_take(0, call_kind::greedy, net::clock::now()));
    of.set_gate(0, {.open = true, .valid_until = net::clock::now() + 1h, .lapses = 2});
    CHECK(late.get() == reason::none);

    of.set_gate(0, {.open = true, .unprotected = true, .lapses = 2});
    const slot alone = of.try_take(0, call_kind::greedy, now);
    REQUIRE(alone);
    CHECK(alone.flaw(now) == reason::lease_lapsed);
}
