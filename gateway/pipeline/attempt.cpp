#include "gateway/pipeline/attempt.hpp"

namespace idem::gateway::pipeline {

using upstream::client::exchange;
using upstream::client::failure;

namespace {

// Nothing of a response was seen: the failures after which asking another replica cannot show a client two answers. A
// connection that broke may have reached the replica; inference calls change nothing there, so asking again is safe.
bool another_may_try(reason why) noexcept {
    return why == reason::upstream_connect || why == reason::upstream_reset;
}

}  // namespace

net::task<attempt> open_exchange(services& at, attempt_order order) {
    attempt tried;
    const upstream_plan& to = *order.route->upstream;
    for (const config::replica& replica : to.settings->replicas) {
        order.out.target = replica.at.join(order.target);
        auto made = std::make_unique<exchange>(at.connections, replica.at, to.timeouts);
        tried.failed = co_await made->open(order.out, order.body);
        if (!tried.failed && order.read_head) {
            failure unread = co_await made->read_head();
            tried.failed = std::move(unread);
        }
        tried.replica = &replica;
        if (!tried.failed) {
            tried.opened = std::move(made);
            co_return tried;
        }
        report_exchange(at, *order.route, replica, 0, tried.failed, 0);
        if (!another_may_try(tried.failed.why)) break;
        ++tried.retries;
    }
    co_return tried;
}

void report_exchange(services& at, const route_plan& route, const config::replica&, unsigned status,
                     const failure& broke, std::uint32_t ms, presented_credential credential) {
    const std::string_view name = route.upstream->settings->name;
    if (broke) at.common.metrics.upstream_error(at.thread, name, broke.why);
    if (status == 0) return;
    at.common.metrics.upstream_request(at.thread, name, status, ms);
    // With a credential of our own the status says nothing about the caller's.
    if (!credential.value || route.upstream->settings->bearer) return;
    upstream_health& health = *at.common.health[route.upstream->index];
    const net::time_point now = net::clock::now();
    if (status == 401 || status == 403) {
        health.proofs.refused(*credential.value, now);
        health.refused_somebody.store(true, std::memory_order_relaxed);
    } else if (status < 300 && (credential.proves || health.refused_somebody.load(std::memory_order_relaxed))) {
        health.proofs.accepted(*credential.value, now);
    }
}

}  // namespace idem::gateway::pipeline
