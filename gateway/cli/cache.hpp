#pragma once
// `idem cache`, but for drift: the admin API's entries, purges and epochs from a shell.
#include "gateway/cli/action.hpp"

namespace idem::gateway::cli {

[[nodiscard]] int run_cache(const cache_action& a);

}  // namespace idem::gateway::cli
