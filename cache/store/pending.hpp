#pragma once
// One answer on its way from a worker thread back to the coroutine that waits for it on an I/O thread, at most until a
// deadline. Held by both sides; whoever is late finds the other gone and drops what it has.
//
//   worker   deliver(v) under the lock: caller gone -> v is dropped; else v is kept and a wake-up is posted
//   caller   wakes by that post, by its deadline or by cancellation; under the lock takes v or marks itself gone
//
// So nothing is posted to the caller's io_context after await_pending() has ended: the context may be destroyed then,
// whatever the worker still does. The timer lives in the coroutine and is touched on its thread alone.
#include <boost/asio/post.hpp>
#include <memory>
#include <mutex>
#include <optional>

#include "upstream/net/net.hpp"

namespace idem::cache {

template <class Value>
class pending : public std::enable_shared_from_this<pending<Value>> {
public:
    explicit pending(upstream::net::executor executor) noexcept : executor_(executor) {}

    /// From any thread, at most once.
    void deliver(Value value) {
        const std::lock_guard lock(mutex_);
        if (abandoned_) return;
        value_ = std::move(value);
        upstream::net::asio::post(executor_, [self = this->shared_from_this()] {
            if (self->wake_ != nullptr) self->wake_->cancel();
        });
    }
    /// Whether nobody waits any more. From any thread.
    [[nodiscard]] bool abandoned() const {
        const std::lock_guard lock(mutex_);
        return abandoned_;
    }

    // The caller's side, on its own thread.
    [[nodiscard]] upstream::net::executor executor() const noexcept { return executor_; }
    void expect(upstream::net::timer& wake) noexcept { wake_ = &wake; }
    std::optional<Value> leave() noexcept {
        wake_ = nullptr;
        const std::lock_guard lock(mutex_);
        abandoned_ = true;
        return std::move(value_);
    }

private:
    mutable std::mutex mutex_;
    bool abandoned_ = false;
    std::optional<Value> value_;
    const upstream::net::executor executor_;
    upstream::net::timer* wake_ = nullptr;  // caller's thread only
};

/// The delivered value, or nothing once `until` has passed or the caller is cancelled. Must start on the thread of the
/// pending's executor, in the same turn in which the work was handed out.
template <class Value>
upstream::net::task<std::optional<Value>> await_pending(std::shared_ptr<pending<Value>> answer,
                                                        upstream::net::time_point until) {
    struct leaver {  // the frame may be destroyed while it waits
        pending<Value>& answer;
        ~leaver() { (void)answer.leave(); }
    };
    upstream::net::timer wake(answer->executor(), until);
    const leaver at_end{*answer};
    answer->expect(wake);
    auto [ec] = co_await wake.async_wait(upstream::net::use_task);
    (void)ec;  // woken, too late or cancelled: what counts is whether the value is there
    co_return answer->leave();
}

}  // namespace idem::cache
