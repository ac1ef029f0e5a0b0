#pragma once
// `idem explain A B`: whether two requests share a digest and, if not, why.
#include "gateway/cli/action.hpp"

namespace idem::gateway::cli {

/// Prints both verdicts and where the canonical forms differ. 0 if both are cacheable and share their digest, else 1.
[[nodiscard]] int run_explain(const explain_action& e);

}  // namespace idem::gateway::cli
