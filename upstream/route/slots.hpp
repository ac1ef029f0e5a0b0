#pragma once
// The slots of one upstream's replicas: every call that makes an engine compute takes one for as long as the engine may
// work on it. A thin thread-safe shell around slot_queue, one mutex a replica; where nothing is limited it only counts.
//
// Where several gateways share a replica a keeper (gateway/app/lease_keeper) opens and shuts the gate of each replica
// by the state of its lease; without a keeper the gate is always open.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "upstream/base/reason.hpp"
#include "upstream/net/event.hpp"
#include "upstream/route/lease_turns.hpp"
#include "upstream/route/slot_queue.hpp"

namespace idem::upstream::route {

class slots;

/// A place on a replica, given back by its destruction on any thread. Must not outlive its `slots`.
class slot {
public:
    slot() = default;
    ~slot() { give_back(); }
    slot(slot&& from) noexcept
        : of_(std::exchange(from.of_, nullptr)), lapses_(from.lapses_), replica_(from.replica_), flaw_(from.flaw_) {}
    slot& operator=(slot&& from) noexcept;
    [[nodiscard]] explicit operator bool() const noexcept { return of_ != nullptr; }
    [[nodiscard]] std::size_t replica() const noexcept { return replica_; }
    /// Why this call may not have had the replica as the configuration says, as far as is known now: lease_lapsed or
    /// abort_unconfirmed, else none.
    [[nodiscard]] reason flaw(net::time_point now) const;
    void give_back() noexcept;

private:
    friend class slots;
    slot(slots& of, std::size_t replica, std::uint64_t lapses, reason flaw) noexcept
        : of_(&of), lapses_(lapses), replica_(static_cast<std::uint32_t>(replica)), flaw_(flaw) {}
    slots* of_ = nullptr;
    std::uint64_t lapses_ = 0;
    std::uint32_t replica_ = 0;
    reason flaw_ = reason::none;
};

class slots {
public:
    slots(std::size_t replicas, slot_rules rules);
    ~slots();
    slots(const slots&) = delete;
    slots& operator=(const slots&) = delete;

    struct taken {
        slot held;
        reason why = reason::none;  // none: held; queue_full, queue_timeout, client_gone
    };
    /// Waits for its turn until `until`, or until `*gone` (whoever sets it notifies `wake`). `wake` is an event of the
    /// calling thread that nobody else waits for; it and `gone` outlive the call.
    [[nodiscard]] net::task<taken> take(std::size_t replica, call_kind kind, net::time_point until,
                                        std::shared_ptr<net::event> wake, const bool& gone);
    /// Without waiting; an empty slot where it is not this call's turn.
    [[nodiscard]] slot try_take(std::size_t replica, call_kind kind, net::time_point now);

    /// The holder's call was aborted and nobody knows whether the engine works on it still: calls that begin before
    /// `until` are told.
    void doubt(std::size_t replica, net::time_point until);
    /// Calls in flight on one replica, those that only wait for the engine to become idle included.
    [[nodiscard]] std::size_t in_flight(std::size_t replica) const;

    // For the keeper of a replica's lease.
    void keep(std::size_t replica, std::shared_ptr<net::event> changed);  // before the first call
    [[nodiscard]] lease_turns::demand demand(std::size_t replica) const;
    void set_gate(std::size_t replica, lease_turns::gate to);
    /// Nothing that was begun on the replica may go on, as far as is known.
    [[nodiscard]] bool settled(std::size_t replica, net::time_point now) const;

    // Figures of the whole upstream.
    [[nodiscard]] std::size_t waiting() const;
    [[nodiscard]] std::size_t in_flight() const;
    [[nodiscard]] std::uint64_t lapses() const;
    [[nodiscard]] std::uint64_t doubts() const noexcept { return doubts_.load(std::memory_order_relaxed); }
    [[nodiscard]] bool unlimited() const noexcept { return rules_.unlimited(); }
    [[nodiscard]] std::size_t replicas() const noexcept { return states_.size(); }

private:
    friend class slot;
    struct waiter;
    struct state;
    [[nodiscard]] slot granted(std::size_t replica, net::time_point now);
    void release(std::size_t replica) noexcept;
    static void heed_clock(state& s, net::time_point now) noexcept;
    void admit(state& s) noexcept;

    const slot_rules rules_;
    std::vector<std::unique_ptr<state>> states_;
    std::atomic<std::uint64_t> doubts_{0};
};

}  // namespace idem::upstream::route
