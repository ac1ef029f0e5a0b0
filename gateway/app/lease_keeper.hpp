#pragma once
// Keeps the lease on each replica that gateways on one store share one call at a time: `slot:<upstream>/<replica>`.
// One coroutine a replica, on the control thread; what to do when is decided by upstream::route::lease_turns.
#include <memory>
#include <string>
#include <vector>

#include "cache/store/coordination.hpp"
#include "upstream/net/net.hpp"
#include "upstream/net/task_group.hpp"
#include "upstream/route/slots.hpp"

namespace idem::gateway::app {

namespace net = upstream::net;

struct kept_lease {
    cache::coordination* store = nullptr;
    upstream::route::slots* of = nullptr;
    std::size_t replica = 0;
    std::string upstream, name;  // of the replica; for the lease's name and the log
    id128 holder;                // this process
    upstream::route::lease_rules rules;
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
    net::task_group tasks_;
};

}  // namespace idem::gateway::app
