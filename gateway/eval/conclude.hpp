#pragma once
// From what was measured to a verdict and the sentences that give its reasons. Pure; any thread.
#include "gateway/eval/score.hpp"

namespace idem::gateway::eval {

/// Needs the cells, results and flags of `s`; sets its verdict and adds its reasons. `changed`: the environment did.
void conclude(summary& s, const recording& all, bool changed);

}  // namespace idem::gateway::eval
