#pragma once
// `${NAME}` and `${NAME:-default}` in the scalars of a configuration file; `$${` stands for a literal `${`. Keys are
// not expanded, results are not expanded again, so a value of the environment cannot inject structure. Pure.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gateway/config/document.hpp"

namespace idem::gateway::config {

using environment_lookup = std::function<std::optional<std::string>(const std::string&)>;

/// Expands every scalar below `root` that came from a file. An unset variable without default is a problem.
void expand_environment(node& root, const environment_lookup& environment, std::vector<problem>& problems);

}  // namespace idem::gateway::config
