#pragma once
// `idem receipt`: shows what a running gateway signed; verifies and audits files without any gateway.
#include "gateway/cli/action.hpp"

namespace idem::gateway::cli {

/// The exit status: 0 good, 1 a receipt, entry or chain that is not what was signed, or nothing to look at.
[[nodiscard]] int run_receipt(const receipt_action& a);

}  // namespace idem::gateway::cli
