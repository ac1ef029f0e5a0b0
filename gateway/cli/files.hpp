#pragma once
// Files that a command names.
#include <optional>
#include <string>

namespace idem::gateway::cli {

/// The whole file; else nullopt, and `error` says what could not be read, and why.
[[nodiscard]] std::optional<std::string> read_file(const std::string& path, std::string& error);

}  // namespace idem::gateway::cli
