#pragma once
// How many calls the replicas of one upstream may work on at once, as the configuration and the engine's profile say
// together. Pure.
#include <chrono>

#include "gateway/config/config.hpp"
#include "upstream/route/lease_turns.hpp"
#include "upstream/route/slot_queue.hpp"

namespace idem::gateway::pipeline {

struct concurrency_plan {
    config::concurrency::rule mode = config::concurrency::rule::unlimited;  // never automatic
    upstream::route::slot_rules slots;
    std::chrono::milliseconds queue_timeout{0}, abort_grace{0};
    upstream::route::lease_rules lease;
    /// Gateways on one store take turns: whoever else calls the replica at the same time changes the answer.
    [[nodiscard]] bool shares_by_lease() const noexcept { return mode == config::concurrency::rule::serial; }
};

[[nodiscard]] concurrency_plan concurrency_of(const config::configuration& all, const config::upstream_pool& of);

}  // namespace idem::gateway::pipeline
