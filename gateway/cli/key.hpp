#pragma once
// `idem key`: what the gateway would make of a request, without sending it.
#include "gateway/cli/action.hpp"

namespace idem::gateway::cli {

/// Prints canonical form, request digest and verdict. 0 if the call has a digest, 1 if not or on failure.
[[nodiscard]] int run_key(const key_action& k);

}  // namespace idem::gateway::cli
