#pragma once
// Watches the replicas of one upstream: asks them what their replica_watch wants to know, publishes what came of it,
// and settles what concerns all of them, the first epoch's environment and the golden reference. Where several gateways
// share a store, the holder of a replica's attest lease watches it, and the others read what it found.
//
// Everything runs on the control thread but suspect(), which any thread may call through the roster. The parts outlive
// the keeper; the tasks that it spawns are owned by the group that it was given.
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/state/epochs.hpp"
#include "cache/store/coordination.hpp"
#include "gateway/config/config.hpp"
#include "gateway/replicas/records.hpp"
#include "upstream/client/pool.hpp"
#include "upstream/determinism/election.hpp"
#include "upstream/determinism/golden.hpp"
#include "upstream/determinism/prober.hpp"
#include "upstream/determinism/replica_watch.hpp"
#include "upstream/determinism/roster.hpp"
#include "upstream/engine/profile.hpp"
#include "upstream/net/event.hpp"
#include "upstream/net/task_group.hpp"

namespace idem::gateway::replicas {

namespace net = upstream::net;

/// How a keeper reaches the rest of the gateway. Called on the control thread.
struct surroundings {
    cache::coordination& in;
    bool shared;  // other gateways may use the same store
    const cache::epochs& epochs;
    /// The environment that a first epoch would have.
    std::function<void(const digest&)> propose;
    /// Opens a new epoch with this environment.
    std::function<net::task<bool>(digest environment, std::string why)> open_epoch;
    /// A golden prompt as it goes to the engine: under the strict rules, from a known state.
    std::function<std::string(const determinism::golden_prompt&)> treat;
    /// What keeps golden prompts from sharing a batch with others, where the engine needs that: runs `work` alone.
    std::function<net::task<determinism::prober::answer>(std::size_t replica,
                                                         net::task<determinism::prober::answer> work)>
        alone;
    /// How many calls its engine works on, as it says; nothing where it does not. And how many of ours it has.
    std::function<net::task<std::optional<std::uint64_t>>(upstream::client::pool&, std::size_t replica)> running;
    std::function<std::size_t(std::size_t replica)> in_flight;
    /// A replica works on one call at a time: golden prompts never have company.
    bool serial;
};

class keeper {
public:
    keeper(net::executor on, net::task_group& tasks, std::size_t index, const config::upstream_pool& pool,
           const upstream::engine::profile& engine, std::vector<determinism::golden_prompt> prompts,
           std::function<upstream::http::fields()> credential, determinism::roster& states, surroundings around);
    ~keeper();
    keeper(const keeper&) = delete;
    keeper& operator=(const keeper&) = delete;

    /// Spawns the watching.
    void start();
    /// Closes its connections, so that nothing is left to wait for. After its tasks were cancelled.
    void stop();
    /// The upstream's epoch has become another one.
    void epoch_changed();
    /// Writes an operator's wish where the watcher of the replica reads it. False: the store could not be written.
    [[nodiscard]] net::task<bool> order(std::size_t replica, wish::what what);
    /// The environment that most of the replicas have now; absent: none has been read, or there is no majority.
    [[nodiscard]] std::optional<digest> majority_environment() const;
    /// The one that this replica has; absent: it was not read.
    [[nodiscard]] std::optional<digest> environment_of(std::size_t replica) const;

private:
    struct seat;
    [[nodiscard]] net::task<void> watch(seat& s);
    [[nodiscard]] net::task<void> listen(seat& s);
    [[nodiscard]] net::task<bool> hears_nothing(seat& s);
    void heard(seat& s, const determinism::prober::health& h);
    [[nodiscard]] net::duration health_patience() const noexcept;
    [[nodiscard]] net::task<void> settle_for_ever();
    [[nodiscard]] net::task<void> settle();
    void propose_first();
    [[nodiscard]] net::task<bool> follow_environment(const cache::epoch_record& epoch);
    [[nodiscard]] const determinism::attestation* elect(const cache::epoch_record& epoch,
                                                        std::vector<determinism::attestation>& given);
    [[nodiscard]] std::vector<determinism::ballot> votes() const;
    [[nodiscard]] net::task<bool> holds(seat& s);
    [[nodiscard]] net::task<void> take_up(seat& s);
    [[nodiscard]] net::task<void> follow(seat& s);
    [[nodiscard]] net::task<void> obey(seat& s);
    [[nodiscard]] net::task<void> work(seat& s);
    [[nodiscard]] net::task<void> rest(seat& s, net::time_point until);
    [[nodiscard]] net::task<determinism::attestation> attest(seat& s, bool thorough);
    [[nodiscard]] net::task<bool> run_golden(seat& s, determinism::attestation_run& run, std::string& print);
    [[nodiscard]] net::task<void> keep_busy(seat& s, std::shared_ptr<const bool> over, std::size_t which);
    [[nodiscard]] determinism::golden_prompt golden(std::size_t which) const;
    [[nodiscard]] finding finding_of(const seat& s) const;
    [[nodiscard]] net::task<void> publish(seat& s);
    [[nodiscard]] net::task<void> tell_suspicion(seat& s);
    [[nodiscard]] net::task<void> set_reference(determinism::attestation from, std::string by);
    [[nodiscard]] net::task<void> read_reference();
    [[nodiscard]] const determinism::reference* reference() const;
    [[nodiscard]] const determinism::reference* reference_for(const seat& s) const;
    [[nodiscard]] bool may_quarantine(const seat& s) const;
    void show(seat& s, determinism::condition c);
    void judge_all();

    net::executor on_;
    net::task_group& tasks_;
    const std::size_t index_;
    const config::upstream_pool& pool_;
    const upstream::engine::profile& engine_;
    const std::vector<determinism::golden_prompt> prompts_;
    const std::function<upstream::http::fields()> credential_;
    determinism::roster& states_;
    surroundings around_;
    const id128 self_;
    net::duration tick_;
    std::string model_;         // that golden prompts are put to
    bool model_known_ = false;  // as it is in force: golden prompts of another model have another reference
    std::optional<determinism::reference> reference_;
    std::optional<net::time_point> first_read_;
    std::optional<net::time_point> first_given_;  // golden outputs, while there is no reference
    std::optional<id128> settled_;                // the epoch as settle() knew it last
    determinism::epoch_pace pace_;
    bool held_back_ = false;  // an epoch, and that was said
    std::list<seat> seats_;
    net::event unsettled_;
};

}  // namespace idem::gateway::replicas
