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
#include "upstream/net/net.hpp"
#include "upstream/route/pin.hpp"

namespace idem::upstream::determinism {

struct standing {
    replica_state state = replica_state::probing;
    digest environment;
    bool silent = false;  // see roster::hear()
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
    /// A call that was sent at `since` has no answer yet: whoever watches had better look whether the replica still
    /// lives. Cheap; of many callers few are heard, those who wait for long once a second.
    void doubt(std::size_t replica, net::time_point since, net::time_point now);
    /// What doubt() calls, as on_suspect().
    void on_doubt(std::function<void(std::size_t)> tell) { doubted_ = std::move(tell); }
    /// A look at the replica's health begins.
    void looked(std::size_t replica, net::time_point now) noexcept;
    /// It got an answer, whatever that said, or none. A replica that gives none is silent: it stays what it is, but who
    /// has a choice takes another one.
    void hear(std::size_t replica, bool answers);

private:
    void changed(std::size_t replica);

    const bool watched_;
    const std::size_t size_;
    mutable std::mutex mutex_;
    std::vector<condition> conditions_;
    std::shared_ptr<const std::vector<standing>> standings_;
    std::vector<std::array<std::atomic<std::uint64_t>, replica_states>> transitions_;
    std::vector<std::atomic<net::clock::rep>> looked_;  // when the last look at each began
    std::vector<std::atomic<bool>> told_;               // that one of them is doubted, since that look
    std::function<void(std::size_t)> tell_, doubted_;
};

/// Whom a request accepts.
enum class demand : std::uint8_t {
    any,       // admitted replicas first, then those that may be good, one that is down last
    admitted,  // admitted replicas in the epoch's environment, and nobody else
};
/// Whether a call that waits for `replica` had better wait no longer: it is gone, or it is silent and another would do.
[[nodiscard]] bool lost(std::size_t replica, std::span<const standing> of, demand wants,
                        const digest& environment) noexcept;
/// Says of each replica how welcome it is, lower first; those that are unwanted already stay so. `classes` may be
/// empty. Pure.
void classify(std::vector<route::replica_class>& classes, std::span<const standing> of, demand wants,
              const digest& environment);

}  // namespace idem::upstream::determinism
