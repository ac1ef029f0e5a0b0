#pragma once
// `idem simulate`.
#include "upstream/simulate/options.hpp"

namespace idem::upstream::simulate {

/// Serves until SIGINT or SIGTERM. Returns the exit status: 1 if the address cannot be bound. Blocks the calling
/// thread.
[[nodiscard]] int run_simulate(const simulate_options& options);

}  // namespace idem::upstream::simulate
