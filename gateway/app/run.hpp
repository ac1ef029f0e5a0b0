#pragma once
// The running program: threads, signals, wiring. Blocks until the gateway has drained after SIGTERM or SIGINT.
#include "gateway/config/config.hpp"

namespace idem::gateway::app {

/// Exit status: 0 after a clean drain, 1 if something needed at start was not to be had (said on standard error).
[[nodiscard]] int run(config::snapshot configuration);

}  // namespace idem::gateway::app
