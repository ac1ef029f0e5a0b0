#pragma once
// What the log says once everything is open: where answers are kept, and what does not work. Pure but for the current
// directory, which relative paths are completed with.
#include <optional>
#include <string>

#include "cache/store/store.hpp"
#include "gateway/config/config.hpp"

namespace idem::gateway::app {

struct banner {
    bool good = true;  // false: something that was configured does not work
    std::string text;
};

/// `second`: of the second tier, if there is one.
[[nodiscard]] banner storage_banner(const config::configuration& c, const std::optional<cache::store_stats>& second);

/// The path as it is from everywhere.
[[nodiscard]] std::string absolute_path(const std::string& path);

}  // namespace idem::gateway::app
