#pragma once
// The keepers of all upstreams whose replicas are watched, and of the state record with the epochs that they live in.
// Control thread; what it refers to outlives it.
#include <memory>
#include <string>
#include <vector>

#include "gateway/app/state_keeper.hpp"
#include "gateway/pipeline/services.hpp"
#include "gateway/replicas/keeper.hpp"

namespace idem::gateway::app {

class replica_side {
public:
    /// `shared_store`: other gateways may use the same store.
    replica_side(upstream::net::executor on, upstream::net::task_group& tasks, pipeline::shared& shared,
                 cache::epochs& epochs, cache::bans& bans, cache::memory_store& memory, bool shared_store);
    /// An error text, empty if all is well: a file of golden prompts cannot be used.
    [[nodiscard]] std::string open();
    void start();
    /// After the tasks were cancelled.
    void stop();
    /// Null where the upstream is not watched.
    [[nodiscard]] replicas::keeper* keeper_of(std::size_t upstream) noexcept { return keepers_[upstream].get(); }
    [[nodiscard]] state_keeper& state() noexcept { return state_; }

private:
    upstream::net::executor on_;
    upstream::net::task_group& tasks_;
    pipeline::shared& shared_;
    const cache::epochs& known_;
    const bool shared_store_;
    state_keeper state_;
    std::vector<std::unique_ptr<replicas::keeper>> keepers_;  // by upstream index
};

}  // namespace idem::gateway::app
