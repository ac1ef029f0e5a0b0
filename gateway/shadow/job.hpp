#pragma once
// One answered request that is to be run again.
#include <memory>

#include "cache/entry/entry.hpp"
#include "gateway/pipeline/fill.hpp"

namespace idem::gateway::shadow {

struct job {
    /// As its fill was told, or would have been: with the body, and with the caller's credential where the upstream has
    /// none of its own. In memory only, and no longer than the job is.
    std::unique_ptr<pipeline::fill_order> order;
    cache::entry_ptr stored;  // what callers get
    cache::entry_ptr again;   // set where it was computed anew for a caller: what came of that
    upstream::net::time_point taken{};
};

}  // namespace idem::gateway::shadow
