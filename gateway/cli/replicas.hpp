#pragma once
// `idem replicas`: what the replicas of a running gateway are, and orders about them. Returns the exit status.
#include "gateway/cli/action.hpp"

namespace idem::gateway::cli {

[[nodiscard]] int run_replicas(const replicas_action& a);

}  // namespace idem::gateway::cli
