#pragma once
// Deadlines of one thread. Every wait in Idem is bounded by one of these instead of a timer of its own: one timer for
// all of a thread, no allocation, and no system call to arm or disarm while others are armed.
//
// A deadline belongs to the thread of its executor. It never fires early; late by less than 50 ms, or by less than 2 ms
// where precise. On expiry it calls back, typically to cancel a socket; the callback must not throw and must not resume
// a coroutine in place (Asio's cancel() and close() do not).
#include "upstream/net/deadline_wheel.hpp"
#include "upstream/net/net.hpp"

namespace idem::upstream::net {

enum class precision : std::uint8_t { coarse, fine };

/// The thread's deadlines: an io_context service, made on first use, shut down with the context.
class deadline_queue : public asio::execution_context::service {
public:
    static inline asio::execution_context::id id;
    explicit deadline_queue(asio::execution_context& context);
    void arm(deadline_node& node, time_point at, precision p);
    /// REQUIRES node.armed().
    void disarm(deadline_node& node) noexcept;

private:
    struct level {
        level(executor on, duration tick) : wheel(tick, clock::now()), wake(on) {}
        deadline_wheel wheel;
        timer wake;
        std::optional<time_point> waking_at;
    };
    void shutdown() override;
    void schedule(level& of);
    static void woken(deadline_queue* self, level* of);
    std::optional<level> coarse_;
    std::optional<level> fine_;
};

[[nodiscard]] deadline_queue& deadlines_of(const executor& on);

class deadline {
public:
    using callback = deadline_node::callback;
    deadline(deadline_queue& queue, callback on_expiry, void* owner) noexcept
        : queue_(&queue), node_(on_expiry, owner) {}
    /// Looks the queue up: not for a path where nanoseconds count.
    deadline(const executor& on, callback on_expiry, void* owner) : deadline(deadlines_of(on), on_expiry, owner) {}

    ~deadline() { disarm(); }
    deadline(const deadline&) = delete;
    deadline& operator=(const deadline&) = delete;

    void arm(time_point at, precision p = precision::coarse) { queue_->arm(node_, at, p); }
    /// Saturates: duration::max() is never.
    void arm(duration after, precision p = precision::coarse) {
        const time_point now = clock::now();
        arm(after > time_point::max() - now ? time_point::max() : now + after, p);
    }
    void disarm() noexcept {
        if (node_.armed()) queue_->disarm(node_);  // an armed node proves that the queue still exists
    }
    [[nodiscard]] bool armed() const noexcept { return node_.armed(); }
    [[nodiscard]] bool expired() const noexcept { return node_.expired(); }

private:
    deadline_queue* queue_;
    deadline_node node_;
};

}  // namespace idem::upstream::net
