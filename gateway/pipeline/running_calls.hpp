#pragma once
// What an engine says of the calls that it works on. Thread of the connections.
#include <cstdint>
#include <optional>

#include "gateway/pipeline/services.hpp"
#include "upstream/client/pool.hpp"

namespace idem::gateway::pipeline {

/// How many calls `replica` works on or has queued, as it says itself; nothing where it does not say. Takes two seconds
/// at most. All it is given outlives the call.
[[nodiscard]] net::task<std::optional<std::uint64_t>> running_calls(upstream::client::pool& connections,
                                                                    const upstream_plan& to, upstream_health& health,
                                                                    std::size_t replica);

}  // namespace idem::gateway::pipeline
