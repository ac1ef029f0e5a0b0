#pragma once
// The operator's own command between two lifetimes of a server. One thread.
#include <string>
#include <string_view>
#include <vector>

#include "upstream/net/net.hpp"

namespace idem::gateway::eval {

/// The words of a command: separated by white space, which '…' and "…" keep; nothing is expanded, for no shell reads
/// it. Empty where there is no word or a quote stays open.
[[nodiscard]] std::vector<std::string> words_of_command(std::string_view line);

/// Runs the program that the first word names (looked for in PATH), with its output on standard error and no input.
/// Returns why it failed; empty: it ended with 0. What has not ended at `limit`, or when `stopped` becomes true, is
/// killed, with what it started in its process group.
[[nodiscard]] upstream::net::task<std::string> run_command(upstream::net::executor on, std::vector<std::string> words,
                                                           upstream::net::time_point limit, const bool* stopped);

}  // namespace idem::gateway::eval
