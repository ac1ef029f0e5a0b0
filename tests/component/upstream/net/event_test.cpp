#include "upstream/net/event.hpp"

#include <doctest/doctest.h>
#include <boost/asio/post.hpp>
#include <stdexcept>
#include <thread>

#include "upstream/net/task_group.hpp"

using namespace idem::upstream::net;
using namespace std::chrono_literals;

namespace {

task<void> wait_once(event& e, time_point limit, int& notified, int& late) {
    const bool woken = co_await e.wait(limit);
    ++(woken ? notified : late);
}

task<void> wait_for_ever(event& e) {
    const bool woken = co_await e.wait();
    CHECK_FALSE(woken);
}

task<void> fail() {
    throw std::runtime_error("broken");
    co_return;
}

task<void> join_and_tell(task_group& group, time_point limit, int& answer) {
    const bool all = co_await group.join(limit);
    answer = all ? 1 : 0;
}

void rethrow(std::exception_ptr e) {
    std::rethrow_exception(e);
}

}  // namespace

TEST_CASE("notify wakes all who wait, and only them") {
    asio::io_context context(1);
    event e(context.get_executor());
    task_group group(context.get_executor(), rethrow);
    int notified = 0, late = 0;
    e.notify();
    for (int i = 0; i < 3; ++i) group.spawn(wait_once(e, clock::now() + 1min, notified, late));
    context.poll();
    CHECK(group.size() == 3);
    CHECK(e.waited_on());
    e.notify();
    context.run();
    CHECK(notified == 3);
    CHECK(late == 0);
    CHECK(group.size() == 0);
}

TEST_CASE("a wait ends at its limit") {
    asio::io_context context(1);
    event e(context.get_executor());
    task_group group(context.get_executor(), rethrow);
    int notified = 0, late = 0;
    const time_point limit = clock::now() + 20ms;
    group.spawn(wait_once(e, limit, notified, late));
    context.run();
    CHECK(late == 1);
    CHECK(clock::now() >= limit);
    CHECK_FALSE(e.waited_on());
}

TEST_CASE("another thread notifies through a shared event") {
    asio::io_context context(1);
    auto e = std::make_shared<event>(context.get_executor());
    task_group group(context.get_executor(), rethrow);
    int notified = 0, late = 0;
    group.spawn(wait_once(*e, clock::now() + 1min, notified, late));
    context.poll();
    std::thread other([e] { notify_from_anywhere(e); });
    context.run();
    other.join();
    CHECK(notified == 1);
}

TEST_CASE("a context that dies with waiters inside is no harm") {
    int notified = 0, late = 0;
    asio::io_context context(1);
    event e(context.get_executor());
    task_group group(context.get_executor(), rethrow);
    group.spawn(wait_once(e, clock::now() + 1min, notified, late));
    context.poll();
    CHECK(group.size() == 1);
}

TEST_CASE("an escaped exception reaches the handler and ends only its task") {
    asio::io_context context(1);
    int failures = 0;
    event e(context.get_executor());
    task_group group(context.get_executor(), [&](std::exception_ptr) { ++failures; });
    int notified = 0, late = 0, joined = -1;
    group.spawn(wait_once(e, time_point::max(), notified, late));
    group.spawn(fail());
    context.poll();
    CHECK(failures == 1);
    CHECK(group.size() == 1);
    task_group outer(context.get_executor(), rethrow);
    outer.spawn(join_and_tell(group, clock::now() + 10ms, joined));
    while (joined < 0) context.run_one();
    CHECK(joined == 0);
    outer.spawn(join_and_tell(group, time_point::max(), joined));
    context.poll();
    e.notify();
    context.run();
    CHECK(joined == 1);
    CHECK(notified == 1);
}

TEST_CASE("cancel ends pending tasks and is not a failure") {
    asio::io_context context(1);
    int failures = 0, joined = -1;
    task_group group(context.get_executor(), [&](std::exception_ptr) { ++failures; });
    event e(context.get_executor());
    for (int i = 0; i < 3; ++i) group.spawn(wait_for_ever(e));
    task_group outer(context.get_executor(), rethrow);
    outer.spawn(join_and_tell(group, clock::now() + 1min, joined));
    asio::post(context, [&] { group.cancel(); });
    context.run();
    CHECK(joined == 1);
    CHECK(failures == 0);
}
