#pragma once
// Keeps the lease on each replica that gateways on one store share one call at a time: `slot:<upstream>/<replica>`.
// One coroutine a replica, on the control thread; what to do when is decided by upstream::route::lease_turns.
#include <vector>

#include "cache/store/coordination.hpp"
#include "gateway/pipeline/services.hpp"
#include "upstream/client/pool.hpp"
#include "upstream/net/net.hpp"
#include "upstream/net/task_group.hpp"

namespace idem::gateway::app {

namespace net = upstream::net;

struct kept_lease {
    cache::coordination* store = nullptr;
    pipeline::upstream_health* health = nullptr;  // of the upstream; its slots
    const pipeline::upstream_plan* of = nullptr;
    std::size_t replica = 0;
    id128 holder;  // this process
};
/// All of a process. Belongs to the thread of its executor, but for keep(), which is called before that thread runs.
class lease_keepers {
public:
    explicit lease_keepers(net::executor on);
    /// What it points to outlives this object.
    void keep(kept_lease what);
    /// Shuts the gates and gives back every lease under which no call runs, so that no other gateway has to wait for it
    /// to lapse.
    [[nodiscard]] net::task<void> end();

private:
    net::executor on_;
    std::vector<kept_lease> kept_;
    upstream::client::pool connections_;  // to ask engines whether they are idle
    net::task_group tasks_;
};

}  // namespace idem::gateway::app
