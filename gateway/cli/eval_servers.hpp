#pragma once
// Which servers `idem eval` asks, as whom: those of the command line, or those of an upstream of the configuration.
#include <string>

#include "gateway/cli/action.hpp"
#include "gateway/eval/runner.hpp"

namespace idem::gateway::cli {

/// Fills in where `m` and `settings` say which servers there are, the credential, and, of an upstream, its engine.
/// Reads the configuration and the environment. Returns why that cannot be done.
[[nodiscard]] std::string find_servers(const eval_action& a, eval::manifest& m, eval::run_settings& settings);

}  // namespace idem::gateway::cli
