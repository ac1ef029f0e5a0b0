#pragma once
// `idem healthcheck`: one GET /readyz, for container probes in images without curl.
#include <chrono>

#include "gateway/config/config.hpp"

namespace idem::gateway::cli {

/// True on a 200 within `limit`. An address that stands for every interface is asked on loopback.
[[nodiscard]] bool ready(config::address at, std::chrono::milliseconds limit);

}  // namespace idem::gateway::cli
