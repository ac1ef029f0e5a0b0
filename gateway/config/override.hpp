#pragma once
// Settings from flags and environment variables, laid over the document before it is read: they obey the same table and
// get the same messages as a file. Pure.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/config/document.hpp"

namespace idem::gateway::config {

struct setting {
    std::string path;  // "cache.ttl", "upstreams.0.timeouts.total", "upstreams.qwen.engine"
    std::string text;
    std::string label;  // "--listen", "IDEM_CACHE_TTL": what messages call it
};

/// Settings among the variables of an environment: `IDEM_` and the path in capitals with `_` for `.`; elements of lists
/// by number (IDEM_UPSTREAMS_0_ENGINE); secrets also with `_FILE` for a file that holds them. Variables that come close
/// to a key without being one are noted in `warnings`.
[[nodiscard]] std::vector<setting> settings_from_environment(
    const std::vector<std::pair<std::string, std::string>>& variables, std::vector<problem>& warnings);

/// The variable that overrides the key at `path`: IDEM_CACHE_TTL for cache.ttl.
[[nodiscard]] std::string variable_of(std::string_view path);

/// Puts one setting into the tree. Elements of lists are found by number (the next number appends) or by name.
void apply(node& root, const setting& s, std::vector<problem>& problems);

}  // namespace idem::gateway::config
