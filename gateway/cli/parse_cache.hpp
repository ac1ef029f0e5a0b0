#pragma once
// `idem cache …`. One thread, while the command line is read.
#include <CLI/CLI.hpp>

#include "gateway/cli/action.hpp"

namespace idem::gateway::cli {

void add_cache(CLI::App& app, action& out);

}  // namespace idem::gateway::cli
