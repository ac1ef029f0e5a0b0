#pragma once
// The credential of the gateway's own that an upstream is configured with. Pure; any thread.
#include "gateway/config/config.hpp"
#include "upstream/client/credential.hpp"

namespace idem::gateway::config {

/// Without a field's name where callers' credentials are passed through.
[[nodiscard]] upstream::client::credential_settings credential_of(const upstream_pool& u);

}  // namespace idem::gateway::config
