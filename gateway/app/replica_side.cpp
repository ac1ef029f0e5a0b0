#include "gateway/app/replica_side.hpp"

#include <fstream>
#include <iterator>

#include "gateway/pipeline/running_calls.hpp"
#include "gateway/replicas/golden_form.hpp"

namespace idem::gateway::app {

namespace net = upstream::net;
namespace determinism = upstream::determinism;

namespace {

std::vector<state_keeper::upstream> upstreams_of(const pipeline::plan& plan) {
    std::vector<state_keeper::upstream> out;
    for (const pipeline::upstream_plan& u : plan.upstreams()) out.push_back({u.settings->name, u.watched});
    return out;
}

upstream::http::fields credential_of(upstream::client::credential& own) {
    upstream::http::fields out;
    own.add_to(out, net::clock::now());
    return out;
}

using answer = determinism::prober::answer;

// In a slot of its own, as any call of a model.
net::task<answer> run_alone(pipeline::shared& shared, const pipeline::upstream_plan& to, std::size_t replica,
                            net::task<answer> work) {
    const auto wake = std::make_shared<net::event>(co_await net::asio::this_coro::executor);
    const bool gone = false;
    upstream::route::slots& slots = shared.health[to.index]->slots;
    const upstream::route::slots::taken got = co_await slots.take(
        replica, upstream::route::call_kind::greedy, net::clock::now() + to.concurrency.queue_timeout, wake, gone);
    if (got.why != reason::none) co_return answer{{}, {}, std::string(to_string(got.why))};
    answer a = co_await std::move(work);
    // Without an answer nobody knows whether the engine has ended the call.
    if (!a.output) slots.doubt(replica, net::clock::now() + to.concurrency.abort_grace);
    co_return a;
}

}  // namespace

replica_side::replica_side(net::executor on, net::task_group& tasks, pipeline::shared& shared, cache::epochs& epochs,
                           cache::bans& bans, cache::memory_store& memory, bool shared_store)
    : on_(on),
      tasks_(tasks),
      shared_(shared),
      known_(epochs),
      shared_store_(shared_store),
      state_(on, shared.coordination, shared_store, upstreams_of(shared.plan),
             cache::proof_of_secret(shared.plan.settings().cache.key_secret), epochs, bans) {
    state_.on_erasure([&memory] { memory.drop_purged(); });
}

std::string replica_side::open() {
    for (const pipeline::upstream_plan& u : shared_.plan.upstreams()) {
        keepers_.push_back(nullptr);
        if (!u.watched) continue;
        auto prompts = determinism::builtin_golden();
        if (const std::string& path = u.settings->admission.golden; !path.empty()) {
            std::ifstream file(path);
            auto read = determinism::parse_golden(std::string(std::istreambuf_iterator<char>(file), {}));
            if (!read.error.empty()) return path + ": " + read.error;
            prompts = std::move(read.prompts);
        }
        const std::size_t i = u.index;
        const upstream::engine::profile& engine = *u.engine;
        replicas::surroundings around{
            shared_.coordination,
            shared_store_,
            known_,
            [this, i](const digest& environment) { state_.propose(i, environment); },
            [this, i](digest environment, std::string why) { return state_.follow(i, environment, std::move(why)); },
            [form = std::make_shared<replicas::golden_form>(engine)](const determinism::golden_prompt& p) {
                return form->of(p);
            },
            [this, i](std::size_t replica, net::task<answer> work) {
                return run_alone(shared_, shared_.plan.upstreams()[i], replica, std::move(work));
            },
            [this, i](upstream::client::pool& connections, std::size_t replica) {
                return pipeline::running_calls(connections, shared_.plan.upstreams()[i], *shared_.health[i], replica);
            },
            [this, i](std::size_t replica) { return shared_.health[i]->slots.in_flight(replica); },
            u.concurrency.mode == config::concurrency::rule::serial};
        keepers_.back() = std::make_unique<replicas::keeper>(
            on_, tasks_, i, *u.settings, engine, std::move(prompts),
            [&own = shared_.health[i]->credential] { return credential_of(own); }, shared_.health[i]->roster,
            std::move(around));
    }
    state_.on_change([this](std::size_t i) {
        if (keepers_[i]) keepers_[i]->epoch_changed();
    });
    return {};
}

void replica_side::stop() {
    for (auto& k : keepers_) {
        if (k) k->stop();
    }
}

void replica_side::start() {
    tasks_.spawn(state_.run());
    for (auto& k : keepers_) {
        if (k) k->start();
    }
}

}  // namespace idem::gateway::app
