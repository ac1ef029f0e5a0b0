#include "gateway/pipeline/bind.hpp"

#include "cache/policy/controls.hpp"

namespace idem::gateway::pipeline {

net::task<reason> bind_request(services& at, digest name, digest request) {
    const cache::unix_ms now = unix_ms_now();
    const auto lasts = std::chrono::milliseconds(cache::idempotency_lasts).count();
    const cache::binding wanted{name, request, now + lasts};
    digest bound = request;
    if (at.common.second) {
        const cache::bind_result got = co_await at.common.second->bind(wanted, now);
        if (got.ok)
            bound = got.value;
        else
            at.common.metrics.store_error(at.thread, at.common.second->name(), "bind", got.why);
    } else {
        bound = at.common.bindings.bind(wanted, now);
    }
    co_return bound == request ? reason::none : reason::idempotency_mismatch;
}

}  // namespace idem::gateway::pipeline
