#pragma once
// The command lines of `idem receipt`, for parse().
#include <CLI/App.hpp>

#include "gateway/cli/action.hpp"

namespace idem::gateway::cli {

/// `out` outlives the parser.
void add_receipt(CLI::App& app, action& out);

}  // namespace idem::gateway::cli
