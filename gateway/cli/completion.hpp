#pragma once
// Shell completions, made from the parser's own tree so that they never name a flag that is not there.
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace idem::gateway::cli {

/// `shell`: bash, zsh or fish; empty for any other.
[[nodiscard]] std::string completion(const CLI::App& app, std::string_view shell);

}  // namespace idem::gateway::cli
