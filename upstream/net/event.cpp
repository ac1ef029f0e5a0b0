#include "upstream/net/event.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/post.hpp>

namespace idem::upstream::net {

// Lives in the waiting coroutine's frame, which outlives the wait: the handler it holds is what resumes that frame.
struct event::waiter {
    waiter(event& e) : owner(&e), limit(e.deadlines_, &waiter::late, this) {}
    ~waiter() {
        if (owner != nullptr) owner->remove(*this);
    }
    static void late(void* self) noexcept {
        auto& w = *static_cast<waiter*>(self);
        if (w.owner != nullptr) w.owner->wake(w, false);
    }
    event* owner;  // null once woken
    waiter* previous = nullptr;
    waiter* next = nullptr;
    deadline limit;
    // Optional, because assignment of this type is broken in Boost 1.81.
    std::optional<asio::any_completion_handler<void(bool)>> resume;
};

event::~event() {
    abandon();
}

void event::abandon() noexcept {
    // Whoever still waits will never run again: destroying the handler destroys the coroutine it would have resumed.
    while (first_ != nullptr) {
        waiter& w = *first_;
        remove(w);
        const auto unused = std::move(*w.resume);
    }
}

void event::remove(waiter& w) noexcept {
    (w.previous != nullptr ? w.previous->next : first_) = w.next;
    (w.next != nullptr ? w.next->previous : last_) = w.previous;
    w.owner = nullptr;
}

void event::wake(waiter& w, bool notified) noexcept {
    remove(w);
    w.limit.disarm();
    asio::post(on_, asio::append(std::move(*w.resume), notified));
}

task<bool> event::wait(time_point limit, precision p) {
    waiter self(*this);
    self.previous = last_;
    (last_ != nullptr ? last_->next : first_) = &self;
    last_ = &self;
    if (limit != time_point::max()) self.limit.arm(limit, p);
    auto start = [&self](auto handler) {
        self.resume.emplace(std::move(handler));
        asio::cancellation_slot slot = asio::get_associated_cancellation_slot(*self.resume);
        auto* cancelled = &self;
        if (slot.is_connected()) slot.assign([cancelled](asio::cancellation_type) { waiter::late(cancelled); });
    };
    auto wait = asio::async_initiate<const asio::deferred_t, void(bool)>(std::move(start), asio::deferred);
    const bool notified = co_await std::move(wait);
    co_return notified;
}

void event::notify() noexcept {
    while (first_ != nullptr) wake(*first_, true);
}

void notify_from_anywhere(std::shared_ptr<event> target) {
    const executor on = target->get_executor();
    asio::post(on, [target = std::move(target)] { target->notify(); });
}

}  // namespace idem::upstream::net
