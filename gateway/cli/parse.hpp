#pragma once
// The command line. Nothing is opened, read or started here. Usage errors become a message with status 2.
#include <string>
#include <vector>

#include "gateway/cli/action.hpp"

namespace idem::gateway::cli {

/// `arguments` without the program's name.
[[nodiscard]] action parse(const std::vector<std::string>& arguments);

}  // namespace idem::gateway::cli
