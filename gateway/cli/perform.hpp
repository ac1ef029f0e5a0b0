#pragma once
// Carries an action out: the shell behind the command line. Blocks until it is done.
#include "gateway/cli/action.hpp"

namespace idem::gateway::cli {

/// Exit status: 0 good, 1 failure, 2 usage.
[[nodiscard]] int perform(const action& a);

}  // namespace idem::gateway::cli
