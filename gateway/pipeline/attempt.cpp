#include "gateway/pipeline/attempt.hpp"

#include "gateway/pipeline/quiet_watch.hpp"
#include "upstream/engine/effect.hpp"
#include "upstream/route/preference.hpp"

namespace idem::gateway::pipeline {

namespace route = upstream::route;
namespace determinism = upstream::determinism;
using upstream::client::exchange;
using upstream::client::failure;

namespace {

// What went wrong with the client's side of an exchange says nothing about the replica.
bool upstreams_fault(reason why) noexcept {
    switch (why) {
        case reason::upstream_connect:
        case reason::upstream_timeout:
        case reason::upstream_reset:
        case reason::upstream_malformed:
        case reason::framing_incomplete:
            return true;
        default:
            return false;
    }
}

route::experience experience_of(unsigned status, reason why, bool sent) noexcept {
    if (why == reason::upstream_connect || !sent) return route::experience::cannot_connect;
    if (why == reason::upstream_timeout) return route::experience::timed_out;
    if (status == 0 || upstreams_fault(why)) return route::experience::no_answer;
    return status >= 500 ? route::experience::server_error : route::experience::success;
}

// Whether the call may make an engine compute.
bool computes(const attempt_order& order) {
    if (order.out.upgrade) return true;
    const auto path = order.target.substr(0, order.target.find('?'));
    using upstream::engine::effect;
    return upstream::engine::effect_of(*order.route->upstream->engine, order.out.method, path) != effect::none;
}

void refused_call(upstream_health& health, reason why) noexcept {
    for (std::size_t i = 0; i < refusals.size(); ++i)
        if (refusals[i] == why) health.refused[i].fetch_add(1, std::memory_order_relaxed);
}

net::task<route::slots::taken> wait_for_slot(services& at, const attempt_order& order, std::size_t replica) {
    const upstream_plan& to = *order.route->upstream;
    const auto wake = std::make_shared<net::event>(at.on);
    struct watch {
        live_exchange& live;
        ~watch() { live.set_waiting(nullptr); }
    } watched{order.live};
    order.live.set_waiting(wake.get());
    const net::time_point until = net::clock::now() + to.concurrency.queue_timeout;
    co_return co_await at.common.health[to.index]->slots.take(replica, order.kind, until, wake, order.live.stopped());
}

// For people: what each replica is, where none is admitted.
std::string why_unavailable(const route_plan& to, const determinism::roster& states) {
    std::string out =
        "no replica of upstream \"" + to.upstream->settings->name + "\" is admitted in the epoch's environment";
    std::size_t i = 0;
    bool unjudged = false, elsewhere = false;
    for (const determinism::condition& c : states.all()) {
        unjudged = unjudged || c.why == determinism::cause::awaiting_reference;
        elsewhere = elsewhere || c.why == determinism::cause::environment_changed;
        out.append(i == 0 ? ": " : ", ").append(to.upstream->settings->replicas[i].id).append(" is ");
        out.append(to_string(c.state)).append(" (").append(to_string(c.why)).append(")");
        ++i;
    }
    if (unjudged) out += "; `idem replicas attest ID --record` makes the outputs of one the reference";
    if (elsewhere) out += "; POST /admin/v1/epochs opens an epoch in the new environment";
    return out;
}

// The replicas to try, best first, by what is known of each.
route::preference preference_of(services& at, const attempt_order& order) {
    const upstream_plan& to = *order.route->upstream;
    const upstream_health& health = *at.common.health[to.index];
    std::vector<route::replica_class> classes;
    health.replicas.mark(classes, net::clock::now());
    if (health.roster.watched()) {
        const auto wants = order.environment ? determinism::demand::admitted : determinism::demand::any;
        determinism::classify(classes, *health.roster.standings(), wants, order.environment.value_or(digest{}));
    }
    return {to.contest, order.pin, std::move(classes)};
}

failure lost_replica() {
    return {reason::upstream_timeout, "the replica answers neither this call nor who asks whether it lives"};
}

failure nobody_to_ask(const attempt_order& order, const upstream_health& health) {
    if (health.roster.watched() && order.environment)
        return {reason::determinism_unavailable, why_unavailable(*order.route, health.roster)};
    return {reason::upstream_unhealthy, {}};
}

}  // namespace

net::task<attempt> open_exchange(services& at, attempt_order order) {
    call_gate::answer limit = at.common.limits.ask(order.caller, net::clock::now());
    attempt tried(std::move(limit.pass));
    const upstream_plan& to = *order.route->upstream;
    upstream_health& health = *at.common.health[to.index];
    if (limit.said.why != reason::none) {
        tried.failed = {limit.said.why, {}};
        tried.retry_after = limit.said.retry_after;
        refused_call(health, limit.said.why);
        co_return tried;
    }
    health.retries.on_request();
    const bool watched = health.roster.watched();
    route::preference replicas = preference_of(at, order);
    std::optional<std::uint32_t> at_replica = replicas.next();
    if (!at_replica) tried.failed = nobody_to_ask(order, health);
    bool all_asked = false;
    std::optional<quiet_watch> quiet;
    if (watched && order.read_head) quiet.emplace(at.on, health.roster, order.environment, order.live);
    // Whether to go on to another replica, which `at_replica` then is.
    const auto go_on = [&] {
        if (tried.retries >= to.settings->retries_per_call) return false;
        const auto following = replicas.next();
        all_asked = !following;
        if (!following || !health.retries.take()) return false;
        at_replica = following;
        ++tried.retries;
        return true;
    };
    while (at_replica) {
        const std::uint32_t index = *at_replica;
        if (order.live.aborted()) {
            tried.failed = {reason::client_gone, {}};
            break;
        }
        order.live.go_on();
        const config::replica& replica = to.settings->replicas[index];
        tried.replica = &replica;
        if (quiet) quiet->begin(index);
        if (computes(order)) {
            route::slot held = health.slots.try_take(index, order.kind, net::clock::now());
            if (!held) {
                route::slots::taken got = co_await wait_for_slot(at, order, index);
                if (order.live.aborted()) got.why = reason::client_gone;
                if (order.live.lost() && !order.live.aborted()) {
                    tried.failed = lost_replica();
                    at_replica = replicas.next();  // nothing was sent: no retry
                    continue;
                }
                tried.failed = {got.why, {}};
                if (tried.failed) {
                    refused_call(health, tried.failed.why);
                    break;
                }
                held = std::move(got.held);
            }
            tried.slot = held_slot(at, to, std::move(held));
        }
        const net::time_point began = net::clock::now();
        if (watched) tried.before = health.roster.get(index);
        // What it was when the call began to wait for it says nothing.
        if (watched && order.environment &&
            !(tried.before.state == determinism::replica_state::admitted &&
              tried.before.environment == *order.environment)) {
            tried.slot.done();
            tried.failed = {reason::determinism_unavailable, why_unavailable(*order.route, health.roster)};
            at_replica = replicas.next();
            continue;
        }
        order.out.target = replica.at.join(order.target);
        auto made = std::make_unique<exchange>(at.connections, replica.at, to.timeouts);
        order.live.set(made.get());
        tried.failed = co_await made->open(order.out, order.body);
        if (!tried.failed && order.read_head) {
            if (quiet) quiet->sent();
            failure unread = co_await made->read_head();
            tried.failed = std::move(unread);
        }
        if (quiet) quiet->end();
        if (!tried.failed) {
            const unsigned status = order.read_head ? made->head().status : 0;
            if (order.read_head) heed_retry_after(at, *order.route, replica, made->head());
            if (!route::may_ask_another(status, order.repeatable) || !go_on()) {
                tried.opened = std::move(made);
                tried.head_read = order.read_head;
                co_return tried;
            }
            order.live.set(nullptr);
            if (status == 503) tried.slot.done();  // turned away
            report_exchange(at, *order.route, replica, status, {}, elapsed_us(began, net::clock::now()) / 1000);
            continue;
        }
        order.live.set(nullptr);
        const bool lost = order.live.lost() && !order.live.aborted();
        if (lost) tried.failed = lost_replica();
        if (!made->sent()) tried.slot.done();
        report_exchange(at, *order.route, replica, 0, tried.failed, 0, {}, made->sent());
        const route::attempt failed{tried.failed.why, made->sent(), made->answered(), order.repeatable, lost};
        if (!route::may_repeat(failed) || !go_on()) break;
    }
    // Some were left out as ejected, and none of the others can be reached: that is the upstream, not one replica.
    if (tried.failed.why == reason::upstream_connect && all_asked && replicas.leaves_out())
        tried.failed.why = reason::upstream_unhealthy;
    // If of admitted replicas none is left that is the reason, whatever became of the last one.
    const bool unreached = tried.failed.why == reason::upstream_connect ||
                           tried.failed.why == reason::upstream_unhealthy || order.live.lost();
    if (watched && order.environment && unreached && !preference_of(at, order).next())
        tried.failed = nobody_to_ask(order, health);
    co_return tried;
}

void report_exchange(services& at, const route_plan& route, const config::replica& replica, unsigned status,
                     const failure& broke, std::uint32_t ms, presented_credential credential, bool sent) {
    const config::upstream_pool& pool = *route.upstream->settings;
    upstream_health& health = *at.common.health[route.upstream->index];
    const net::time_point now = net::clock::now();
    const auto index = static_cast<std::size_t>(&replica - pool.replicas.data());
    if (upstreams_fault(broke.why)) at.common.metrics.upstream_error(at.thread, pool.name, broke.why);
    if (status != 0 || upstreams_fault(broke.why))
        health.replicas.report(index, experience_of(status, broke.why, sent), now);
    // It may be another process when it answers again.
    if (broke.why == reason::upstream_connect || broke.why == reason::upstream_reset) health.roster.suspect(index);
    if (status == 0) return;
    at.common.metrics.upstream_request(at.thread, pool.name, status, ms);
    // With a credential of our own the status says nothing about the caller's.
    if (!credential.value || pool.own_credential()) return;
    if (status == 401 || status == 403) {
        report_refusal(at, route, *credential.value);
    } else if (status < 300 && (credential.proves || health.refused_somebody.load(std::memory_order_relaxed))) {
        health.proofs.accepted(*credential.value, now);
    }
}

void heed_retry_after(services& at, const route_plan& route, const config::replica& replica,
                      const upstream::http::response_head& head) {
    if (head.status != 503) return;
    const auto field = head.headers.find("retry-after");
    const auto wait = field ? route::retry_after(*field, unix_ms_now() / 1000) : std::nullopt;
    if (!wait) return;
    const auto index = static_cast<std::size_t>(&replica - route.upstream->settings->replicas.data());
    at.common.health[route.upstream->index]->replicas.rest(index, *wait, net::clock::now());
}

void report_refusal(services& at, const route_plan& route, const digest& credential) {
    if (route.upstream->settings->own_credential()) return;
    upstream_health& health = *at.common.health[route.upstream->index];
    health.proofs.refused(credential, net::clock::now());
    health.refused_somebody.store(true, std::memory_order_relaxed);
}

}  // namespace idem::gateway::pipeline
