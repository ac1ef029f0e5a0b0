#pragma once
// A condition variable for the coroutines of one thread. Waiters re-check their predicate: nothing else runs between a
// check and the wait that follows it, so no wake-up is lost. All members are called on the thread of the executor;
// from another thread use `notify_from_anywhere` with a shared event.
//
// Must die before its context. Coroutines that still wait then are destroyed with it.
#include <boost/asio/any_completion_handler.hpp>
#include <memory>

#include "upstream/net/deadline.hpp"
#include "upstream/net/net.hpp"

namespace idem::upstream::net {

class event {
public:
    explicit event(executor on) : on_(on), deadlines_(deadlines_of(on)) {}
    ~event();
    event(const event&) = delete;
    event& operator=(const event&) = delete;

    /// Until the next notify (true) or `limit` (false). A notify before the wait is not remembered.
    [[nodiscard]] task<bool> wait(time_point limit = time_point::max(), precision p = precision::coarse);
    /// Wakes all who wait now. They resume later, in order, never inside this call.
    void notify() noexcept;
    /// Destroys the coroutines that wait now, at the end of their context.
    void abandon() noexcept;
    [[nodiscard]] bool waited_on() const noexcept { return first_ != nullptr; }
    [[nodiscard]] executor get_executor() const noexcept { return on_; }

private:
    struct waiter;
    void remove(waiter& w) noexcept;
    void wake(waiter& w, bool notified) noexcept;

    executor on_;
    deadline_queue& deadlines_;
    waiter* first_ = nullptr;
    waiter* last_ = nullptr;
};

/// Any thread.
void notify_from_anywhere(std::shared_ptr<event> target);

}  // namespace idem::upstream::net
