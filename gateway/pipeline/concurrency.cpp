#include "gateway/pipeline/concurrency.hpp"

#include <algorithm>

#include "upstream/engine/profile.hpp"

namespace idem::gateway::pipeline {

namespace {

using rule = config::concurrency::rule;

bool strict_leads_to(const config::configuration& all, const std::string& upstream) {
    return std::ranges::any_of(all.routes, [&](const config::route& r) {
        if (r.upstream != upstream) return false;
        return std::ranges::any_of(all.policies,
                                   [&](const config::policy& p) { return p.name == r.policy && p.base == "strict"; });
    });
}

rule mode_of(const config::configuration& all, const config::upstream_pool& of,
             const upstream::engine::profile* profile) {
    if (of.concurrency.mode != rule::automatic) return of.concurrency.mode;
    if (!profile || !strict_leads_to(all, of.name)) return rule::unlimited;
    return profile->concurrency == upstream::engine::concurrency_mode::serial ? rule::serial : rule::batch_invariant;
}

}  // namespace

concurrency_plan concurrency_of(const config::configuration& all, const config::upstream_pool& of) {
    const auto* profile = upstream::engine::find(of.engine);
    const config::concurrency& c = of.concurrency;
    concurrency_plan plan;
    plan.mode = mode_of(all, of, profile);
    plan.queue_timeout = c.queue_timeout;
    plan.abort_grace = c.abort_grace;
    plan.lease.length = c.lease;
    plan.lease.grace = c.abort_grace;
    plan.slots.queue = c.queue;
    if (plan.mode == rule::serial) plan.slots.at_once = 1;
    if (plan.mode == rule::batch_invariant) {
        plan.slots.at_once = c.per_replica;
        plan.slots.no_mixing = profile && profile->no_mixing;
    }
    return plan;
}

}  // namespace idem::gateway::pipeline
