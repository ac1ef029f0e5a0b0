#pragma once
// The second tier that the configuration names.
#include <memory>
#include <string>

#include "cache/store/store.hpp"
#include "gateway/config/config.hpp"

namespace idem::gateway::app {

/// Null with a sentence in `error` for what no waiting can mend. REQUIRES a tier other than memory.
[[nodiscard]] std::unique_ptr<cache::store> open_second_tier(const config::cache& settings, std::string& error);

}  // namespace idem::gateway::app
