#pragma once
// Where a replica's own endpoints are. An engine serves them beside its API, so a URL that names the API's folder is
// asked without it. Pure.
#include "upstream/client/target.hpp"

namespace idem::gateway::replicas {

[[nodiscard]] inline upstream::client::target probe_target(upstream::client::target to) {
    if (to.base_path.ends_with("/v1")) to.base_path.resize(to.base_path.size() - 3);
    return to;
}

}  // namespace idem::gateway::replicas
