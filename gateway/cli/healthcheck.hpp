#pragma once
// `idem healthcheck`: one GET /readyz, for container probes in images without curl.
#include <chrono>
#include <string>

#include "gateway/config/config.hpp"

namespace idem::gateway::cli {

/// Empty on a 200 within `limit`, else why not, with the address that was tried. An address that stands for every
/// interface is asked on loopback.
[[nodiscard]] std::string not_ready(config::address at, std::chrono::milliseconds limit);

}  // namespace idem::gateway::cli
