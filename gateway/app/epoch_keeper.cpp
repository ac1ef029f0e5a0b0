#include "gateway/app/epoch_keeper.hpp"

#include "gateway/observe/log.hpp"

namespace idem::gateway::app {

namespace net = upstream::net;

namespace {

constexpr std::chrono::milliseconds until_known{250};
constexpr std::chrono::seconds once_known{2};

/// The environment of an upstream whose facts nobody has measured or declared: the digest of no facts.
digest unknown_environment() {
    return sha256("environment:unknown");
}

}  // namespace

net::task<void> keep_epochs(net::executor on, cache::store* second, bool shared_store,
                            std::vector<std::string> upstreams, cache::epochs& into) {
    std::vector<cache::epoch_record> proposals;
    for (std::size_t i = 0; i < upstreams.size(); ++i) proposals.push_back({random_id(), unknown_environment()});
    net::timer wake(on);
    bool all_known = false;
    for (;;) {
        all_known = true;
        for (std::size_t i = 0; i < upstreams.size(); ++i) {
            if (!second) {
                into.set(i, proposals[i]);
                continue;
            }
            const cache::epoch_result got = co_await second->epoch(upstreams[i], proposals[i]);
            if (got.ok) {
                if (into.get(i) && got.record != proposals[i])
                    observe::log(observe::level::warning, "epoch_changed",
                                 "another gateway's epoch won for upstream " + upstreams[i]);
                proposals[i] = got.record;
                into.set(i, got.record);
            } else if (!shared_store) {
                into.set(i, proposals[i]);
            } else if (!into.get(i)) {
                all_known = false;
            }
        }
        into.mark_asked();
        // An embedded store has one writer's world: what was read or chosen stays.
        if (!second || !shared_store) co_return;
        wake.expires_after(all_known ? net::duration(once_known) : net::duration(until_known));
        auto [ec] = co_await wake.async_wait(net::use_task);
        if (ec) co_return;
    }
}

}  // namespace idem::gateway::app
