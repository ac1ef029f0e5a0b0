#include "upstream/route/slots.hpp"

#include <utility>

namespace idem::upstream::route {

struct slots::waiter {
    std::shared_ptr<net::event> wake;
    bool granted = false;  // guarded by the replica's mutex, as is everything here
};

struct slots::state {
    explicit state(slot_rules rules) : queue(rules) {}
    mutable std::mutex mutex;
    slot_queue queue;
    std::atomic<std::size_t> counted{0};  // calls in flight, where nothing is limited
    std::shared_ptr<net::event> keeper;   // null: nobody else uses the replica
    lease_turns::gate gate{.open = true};
    net::time_point doubtful_until{};
};

slot& slot::operator=(slot&& from) noexcept {
    if (this == &from) return *this;
    give_back();
    of_ = std::exchange(from.of_, nullptr);
    replica_ = from.replica_;
    flaw_ = from.flaw_;
    lapses_ = from.lapses_;
    return *this;
}

void slot::give_back() noexcept {
    if (slots* const of = std::exchange(of_, nullptr)) of->release(replica_);
}

reason slot::flaw(net::time_point now) const {
    if (!of_ || flaw_ != reason::none) return flaw_;
    const slots::state& s = *of_->states_[replica_];
    if (of_->rules_.unlimited()) return reason::none;
    const std::lock_guard lock(s.mutex);
    const bool ours = !s.keeper || (s.gate.lapses == lapses_ && now <= s.gate.valid_until);
    return ours ? reason::none : reason::lease_lapsed;
}

slots::slots(std::size_t replicas, slot_rules rules) : rules_(rules) {
    states_.reserve(replicas);
    for (std::size_t i = 0; i < replicas; ++i) states_.push_back(std::make_unique<state>(rules));
}

slots::~slots() = default;

// A process that was stopped wakes behind the end of its lease, and its callers may wake before whoever keeps it: by
// the clock the gate is shut. The replica's mutex is held.
void slots::heed_clock(state& s, net::time_point now) noexcept {
    if (s.keeper && s.gate.open && !s.gate.unprotected && now > s.gate.valid_until) s.queue.open(false);
}

// The replica's mutex is held.
slot slots::granted(std::size_t replica, net::time_point now) {
    const state& s = *states_[replica];
    reason flaw = reason::none;
    if (now < s.doubtful_until) flaw = reason::abort_unconfirmed;
    if (s.keeper && (s.gate.unprotected || now > s.gate.valid_until)) flaw = reason::lease_lapsed;
    return slot(*this, replica, s.gate.lapses, flaw);
}

slot slots::try_take(std::size_t replica, call_kind kind, net::time_point now) {
    state& s = *states_[replica];
    if (rules_.unlimited()) {
        s.counted.fetch_add(1, std::memory_order_relaxed);
        return slot(*this, replica, 0, reason::none);
    }
    const std::lock_guard lock(s.mutex);
    heed_clock(s, now);
    if (!s.queue.begin(kind)) return {};
    if (s.keeper) notify_from_anywhere(s.keeper);
    return granted(replica, now);
}

net::task<slots::taken> slots::take(std::size_t replica, call_kind kind, net::time_point until,
                                    std::shared_ptr<net::event> wake, const bool& gone) {
    if (slot at_once = try_take(replica, kind, net::clock::now())) co_return taken{std::move(at_once), reason::none};
    state& s = *states_[replica];
    // What is queued is taken out again, or given back, however this frame ends.
    struct presence {
        slots& of;
        state& s;
        waiter me;
        std::optional<slot_queue::ticket> place{};
        ~presence() {
            const std::lock_guard lock(s.mutex);
            if (!place) return;
            if (me.granted)
                s.queue.end();
            else
                s.queue.leave(*place);
            of.admit(s);
        }
    } present{*this, s, {std::move(wake), false}};
    {
        const std::lock_guard lock(s.mutex);
        present.place = s.queue.queue(kind, &present.me);
        if (!present.place) co_return taken{{}, reason::queue_full};
        admit(s);
    }
    for (;;) {
        {
            const std::lock_guard lock(s.mutex);
            if (present.me.granted) {
                present.place.reset();  // it is the slot's from here on
                taken t{granted(replica, net::clock::now()), reason::none};
                co_return t;
            }
        }
        if (gone) co_return taken{{}, reason::client_gone};
        if (net::clock::now() >= until) co_return taken{{}, reason::queue_timeout};
        (void)co_await present.me.wake->wait(until);
    }
}

// Lets begin who may, after anything changed. The replica's mutex is held: a waiter that is in the queue has a frame,
// and so a context, that lives.
void slots::admit(state& s) noexcept {
    if (s.keeper) heed_clock(s, net::clock::now());
    while (const auto first = s.queue.next()) {
        auto& w = *static_cast<waiter*>(first->owner);
        w.granted = true;
        notify_from_anywhere(w.wake);
    }
    if (s.keeper) notify_from_anywhere(s.keeper);
}

void slots::release(std::size_t replica) noexcept {
    state& s = *states_[replica];
    if (rules_.unlimited()) {
        s.counted.fetch_sub(1, std::memory_order_relaxed);
        return;
    }
    const std::lock_guard lock(s.mutex);
    s.queue.end();
    admit(s);
}

void slots::doubt(std::size_t replica, net::time_point until) {
    doubts_.fetch_add(1, std::memory_order_relaxed);
    const std::lock_guard lock(states_[replica]->mutex);
    states_[replica]->doubtful_until = std::max(states_[replica]->doubtful_until, until);
}

std::size_t slots::in_flight(std::size_t replica) const {
    const state& s = *states_[replica];
    if (rules_.unlimited()) return s.counted.load(std::memory_order_relaxed);
    const std::lock_guard lock(s.mutex);
    return s.queue.in_flight();
}

void slots::keep(std::size_t replica, std::shared_ptr<net::event> changed) {
    state& s = *states_[replica];
    const std::lock_guard lock(s.mutex);
    s.keeper = std::move(changed);
    s.gate = {};
    s.queue.open(false);
}

lease_turns::demand slots::demand(std::size_t replica) const {
    const state& s = *states_[replica];
    const std::lock_guard lock(s.mutex);
    return {s.queue.waiting(), s.queue.in_flight()};
}

void slots::set_gate(std::size_t replica, lease_turns::gate to) {
    state& s = *states_[replica];
    const std::lock_guard lock(s.mutex);
    const bool opens = to.open && !s.queue.is_open();  // the clock may have shut it
    s.gate = to;
    s.queue.open(to.open);
    if (opens) admit(s);
}

bool slots::settled(std::size_t replica, net::time_point now) const {
    const state& s = *states_[replica];
    const std::lock_guard lock(s.mutex);
    return s.gate.settled && now >= s.doubtful_until;
}

std::size_t slots::waiting() const {
    std::size_t sum = 0;
    for (const auto& s : states_) {
        const std::lock_guard lock(s->mutex);
        sum += s->queue.waiting();
    }
    return sum;
}

std::size_t slots::in_flight() const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < states_.size(); ++i) sum += in_flight(i);
    return sum;
}

std::uint64_t slots::lapses() const {
    std::uint64_t sum = 0;
    for (const auto& s : states_) {
        const std::lock_guard lock(s->mutex);
        sum += s->gate.lapses;
    }
    return sum;
}

}  // namespace idem::upstream::route
