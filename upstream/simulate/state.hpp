#pragma once
// What the sessions of one simulated engine share. Thread-safe, once `started` is set.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>

#include "upstream/net/net.hpp"
#include "upstream/simulate/memory.hpp"
#include "upstream/simulate/options.hpp"
#include "upstream/simulate/stats.hpp"

namespace idem::upstream::simulate {

struct engine_state {
    explicit engine_state(const simulate_options& o) : options(o) {}

    [[nodiscard]] bool starting() const noexcept { return net::clock::now() < started + options.slow_start; }
    /// How often the environment changed.
    [[nodiscard]] unsigned environment() const noexcept {
        const bool due = options.change_after && net::clock::now() >= started + *options.change_after;
        return changes.load(std::memory_order_relaxed) + (due ? 1 : 0);
    }
    /// Changes it now; returns how often it did.
    unsigned change_environment() noexcept {
        changes.fetch_add(1, std::memory_order_relaxed);
        return environment();
    }

    const simulate_options& options;
    counters counts;
    engine_memory memory;
    net::time_point started;
    std::uint64_t process = std::random_device{}();
    std::atomic<unsigned> changes{0};
};

}  // namespace idem::upstream::simulate
