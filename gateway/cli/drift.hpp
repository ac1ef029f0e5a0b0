#pragma once
// `idem cache drift`: asks a running gateway and prints.
#include "gateway/cli/action.hpp"

namespace idem::gateway::cli {

/// The exit status.
[[nodiscard]] int run_drift(const drift_action& a);

}  // namespace idem::gateway::cli
