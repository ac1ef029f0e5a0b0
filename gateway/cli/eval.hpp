#pragma once
// `idem eval` and what belongs to it. Prints to standard output, progress to standard error; returns the exit status: 0
// deterministic, 1 flips, 2 a wrong command, 3 not enough evidence, 4 the environment changed, 5 other answers than the
// baseline's.
#include "gateway/cli/action.hpp"

namespace idem::gateway::cli {

[[nodiscard]] int run_eval(const eval_action& a);

}  // namespace idem::gateway::cli
