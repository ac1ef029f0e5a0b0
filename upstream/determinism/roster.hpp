#pragma once
// The condition of each replica of one upstream, as this process knows it: written by the keeper that probes them or
// reads what another gateway found, read by every request that goes upstream. Any thread.
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "upstream/determinism/replica_state.hpp"

namespace idem::upstream::determinism {

class roster {
public:
    /// Not watched: every replica counts as admitted for ever, and nothing is ever asked of it.
    roster(std::size_t replicas, bool watched);
    [[nodiscard]] bool watched() const noexcept { return watched_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    void set(std::size_t replica, condition c);
    [[nodiscard]] condition get(std::size_t replica) const;
    [[nodiscard]] std::vector<condition> all() const;
    /// A request could not reach the replica, or its answer came from another environment: until it has been looked at
    /// it is not admitted. Returns at once; the keeper is told.
    void suspect(std::size_t replica);
    /// What suspect() calls, on the thread of whoever suspects. Set before any other thread knows the roster.
    void on_suspect(std::function<void(std::size_t)> tell) { tell_ = std::move(tell); }

private:
    const bool watched_;
    const std::size_t size_;
    mutable std::mutex mutex_;
    std::vector<condition> conditions_;
    std::function<void(std::size_t)> tell_;
};

/// Whom a request accepts.
enum class demand : std::uint8_t {
    any,       // admitted replicas first, then those that may be good; one that is down only where all are
    admitted,  // admitted replicas in the epoch's environment, and nobody else
};
/// Takes out of `order`, which ranks replicas best first, those that are not accepted, and moves the better ones to the
/// front; ranks hold among equals. Pure.
void choose(std::vector<std::uint32_t>& order, std::span<const condition> of, demand wants, const digest& environment);

}  // namespace idem::upstream::determinism
