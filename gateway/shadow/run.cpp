#include "gateway/shadow/run.hpp"

#include "gateway/pipeline/held_slot.hpp"
#include "gateway/pipeline/storable.hpp"
#include "gateway/pipeline/vouch.hpp"
#include "upstream/client/fetch.hpp"

namespace idem::gateway::shadow {

namespace determinism = upstream::determinism;
namespace route = upstream::route;
using namespace std::chrono_literals;

namespace {

/// A replica without a limit of its own is under load with so many calls in flight.
constexpr std::size_t under_load = 8;
constexpr net::duration glance = 25ms;
/// Where the replica's lease has to be asked for, calls that come meanwhile stand behind us: not for long.
constexpr net::duration in_queue = 1s;

route::call_kind kind_of(const pipeline::fill_order& order) {
    const bool greedy = order.route->policy->settings->base == "strict" || order.call.greedy;
    return greedy ? route::call_kind::greedy : route::call_kind::sampled;
}

// An empty slot: others wanted the replica all the time.
net::task<route::slot> wait_turn(pipeline::services& at, const pipeline::fill_order& order, std::size_t replica,
                                 net::time_point until) {
    const pipeline::upstream_plan& to = *order.route->upstream;
    route::slots& slots = at.common.health[to.index]->slots;
    net::timer pause(at.on);
    for (;;) {
        const net::time_point now = net::clock::now();
        const std::size_t running = slots.in_flight(replica);
        if (slots.waiting() == 0 && (!slots.unlimited() || running < under_load)) {
            route::slot held = slots.try_take(replica, kind_of(order), now);
            if (held) co_return held;
            if (running == 0 && to.concurrency.shares_by_lease()) {
                const auto wake = std::make_shared<net::event>(at.on);
                const bool gone = false;
                route::slots::taken got =
                    co_await slots.take(replica, kind_of(order), std::min(until, now + in_queue), wake, gone);
                if (got.held) co_return std::move(got.held);
            }
        }
        if (net::clock::now() >= until) co_return route::slot{};
        pause.expires_after(glance);
        auto [ec] = co_await pause.async_wait(net::use_task);
        if (ec) co_return route::slot{};
    }
}

struct judged {
    reason why = reason::none;
    std::string output;
    upstream::dialect::verdict content;
};

// As the answer of a fill is judged.
judged judge(const pipeline::fill_order& order, upstream::client::fetched& got) {
    judged out;
    upstream::http::response_head head;
    head.status = got.status;
    head.headers = std::move(got.headers);
    head.framing = upstream::http::body_framing::length;  // the exchange has seen to that
    const pipeline::head_verdict first = pipeline::judge_head(head, order.call);
    out.why = first.refuse;
    if (out.why != reason::none) return out;
    pipeline::answer_facts facts;
    facts.framing = head.framing;
    facts.framing_complete = true;
    const auto watcher = order.api->watch(first.form, order.call);
    watcher->feed(got.body);
    facts.content = watcher->finish(true);
    out.why = pipeline::judge_answer(facts, first.form, order.call, *order.route->policy->settings);
    if (out.why != reason::none) return out;
    auto normal = facts.content.normalised ? facts.content.normalised : order.api->normalised(first.form, got.body);
    if (!normal) {
        out.why = reason::answer_malformed;
        return out;
    }
    out.output = std::move(*normal);
    out.content = std::move(facts.content);
    return out;
}

}  // namespace

net::task<ran> run_once(pipeline::services& at, const pipeline::fill_order& order, std::size_t replica, bool sampled,
                        net::time_point until) {
    ran result;
    const pipeline::upstream_plan& to = *order.route->upstream;
    pipeline::upstream_health& health = *at.common.health[to.index];
    const config::replica& server = to.settings->replicas[replica];
    route::slot turn = co_await wait_turn(at, order, replica, until);
    pipeline::call_gate::answer limit = at.common.limits.ask(digest{}, net::clock::now());
    if (!turn || limit.said.why != reason::none) {
        result.what = ran::end::put_off;
        co_return result;
    }
    pipeline::held_slot slot(at, to, std::move(turn));
    determinism::condition before = health.roster.get(replica);
    using determinism::replica_state;
    if (health.roster.watched() && before.state != replica_state::admitted && before.state != replica_state::probing) {
        slot.done();  // it was put out while we waited
        result.what = ran::end::put_off;
        co_return result;
    }
    pipeline::witness seen(at, order, replica, before, pipeline::witness::part::shadow);

    std::string body = order.body;
    const pipeline::treatment& treated = *order.route->treatment;
    if (treated.enforces(*order.api) && treated.adds_when_sent(*order.api))
        body = treated.as_sent(std::move(body), *order.api, order.request, random_id());  // a state of its own
    upstream::client::outgoing ask = order.out;
    std::string path = order.target;
    const net::time_point began = net::clock::now();
    upstream::client::fetched got =
        co_await upstream::client::fetch(at.connections, server.at, to.timeouts, std::move(ask), std::move(path),
                                         std::move(body), at.common.plan.settings().cache.entry);
    if (got.broke) co_return result;
    const reason flaw = slot.flaw();
    slot.done();
    at.common.metrics.upstream_request(at.thread, to.settings->name, got.status,
                                       pipeline::elapsed_us(began, net::clock::now()) / 1000);
    judged answer = judge(order, got);
    if (answer.why != reason::none) co_return result;
    const pipeline::testimony said = co_await seen.testify(answer.content);
    result.what = ran::end::answered;
    result.output = std::move(answer.output);
    result.seen.output = sha256(result.output);
    result.seen.sampled = sampled;
    // While its environment changed it was in none that has a name.
    result.seen.environment = said.refuse == reason::none ? said.environment : digest{};
    if (flaw == reason::none && said.refuse == reason::none) result.seen.promise = said.promise.what;
    co_return result;
}

}  // namespace idem::gateway::shadow
