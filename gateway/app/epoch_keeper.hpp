#pragma once
// Reads each upstream's epoch from the store at start, and proposes it again every few seconds: a Redis that lost its
// data gets it back, and a gateway whose proposal lost takes over the one that won. Runs on the control thread.
#include <string>
#include <vector>

#include "cache/state/epochs.hpp"
#include "cache/store/store.hpp"
#include "upstream/net/net.hpp"

namespace idem::gateway::app {

/// Until cancelled. Without a second tier, or with an embedded one that is out of order, the epochs are this process's
/// own: nobody else could share its answers. With Redis away they stay unknown, and requests pass uncached, until it
/// was read.
[[nodiscard]] upstream::net::task<void> keep_epochs(upstream::net::executor on, cache::store* second, bool shared_store,
                                                    std::vector<std::string> upstreams, cache::epochs& into);

}  // namespace idem::gateway::app
