#pragma once
// The table made readable: defaults, effective values, reference, JSON Schema. Pure; secrets never appear.
#include <string>

#include "gateway/config/config.hpp"

namespace idem::gateway::config {

/// A complete file with every key, its meaning and its default: conf/idem.yaml.
[[nodiscard]] std::string describe_defaults();
/// What is in force, as a file that loads to the same configuration. In place of each secret stands the variable that
/// overrides its key, `${IDEM_ADMIN_TOKEN}` and the like; user information in URLs becomes "***".
[[nodiscard]] std::string describe_effective(const configuration& c);
/// conf/reference.md.
[[nodiscard]] std::string describe_reference();
/// A JSON Schema (draft 2020-12) for editors.
[[nodiscard]] std::string describe_schema();

}  // namespace idem::gateway::config
