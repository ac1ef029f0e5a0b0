#pragma once
// The condition of each replica of one upstream, as this process knows it: written by the keeper that probes them or
// reads what another gateway found, read by every request that goes upstream. Any thread.
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "upstream/determinism/replica_state.hpp"
#include "upstream/route/pin.hpp"

namespace idem::upstream::determinism {

struct standing {
    replica_state state = replica_state::probing;
    digest environment;
};

class roster {
public:
    /// Not watched: every replica counts as admitted for ever, and nothing is ever asked of it.
    roster(std::size_t replicas, bool watched);
    [[nodiscard]] bool watched() const noexcept { return watched_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    void set(std::size_t replica, condition c);
    [[nodiscard]] condition get(std::size_t replica) const;
    [[nodiscard]] std::vector<condition> all() const;
    /// What classify() goes by. Shared with others who look before the next change.
    [[nodiscard]] std::shared_ptr<const std::vector<standing>> standings() const;
    /// How often a replica has come into a state since the start.
    [[nodiscard]] std::uint64_t transitions(std::size_t replica, replica_state into) const noexcept;
    /// A request could not reach the replica, or its answer came from another environment: until it has been looked at
    /// it is not admitted. Returns at once; the keeper is told.
    void suspect(std::size_t replica);
    /// What suspect() calls, on the thread of whoever suspects. Set before any other thread knows the roster.
    void on_suspect(std::function<void(std::size_t)> tell) { tell_ = std::move(tell); }

private:
    void changed(std::size_t replica);

    const bool watched_;
    const std::size_t size_;
    mutable std::mutex mutex_;
    std::vector<condition> conditions_;
    std::shared_ptr<const std::vector<standing>> standings_;
    std::vector<std::array<std::atomic<std::uint64_t>, replica_states>> transitions_;
    std::function<void(std::size_t)> tell_;
};

/// Whom a request accepts.
enum class demand : std::uint8_t {
    any,       // admitted replicas first, then those that may be good, one that is down last
    admitted,  // admitted replicas in the epoch's environment, and nobody else
};
/// Says of each replica how welcome it is, lower first; those that are unwanted already stay so. `classes` may be
/// empty. Pure.
void classify(std::vector<route::replica_class>& classes, std::span<const standing> of, demand wants,
              const digest& environment);

}  // namespace idem::upstream::determinism
