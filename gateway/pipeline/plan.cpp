#include "gateway/pipeline/plan.hpp"

#include <algorithm>

#include "gateway/config/glob.hpp"
#include "gateway/pipeline/identify.hpp"

namespace idem::gateway::pipeline {

namespace {

// Whether somebody depends on what the replicas of an upstream are.
bool watched(const config::configuration& c, const config::upstream_pool& u) {
    using watching = config::upstream_pool::watching;
    if (u.probe != watching::automatic) return u.probe == watching::on;
    if (!u.environment.lock.empty() || !u.admission.golden.empty()) return true;
    return std::ranges::any_of(c.routes, [&](const config::route& r) {
        const auto policy = std::ranges::find(c.policies, r.policy, &config::policy::name);
        return r.upstream == u.name && policy != c.policies.end() &&
               (policy->base == "strict" || policy->base == "seeded");
    });
}

}  // namespace

plan::plan(config::snapshot from) : from_(std::move(from)) {
    // Reserved first: the plans point at each other.
    upstreams_.reserve(from_->upstreams.size());
    for (const config::upstream_pool& u : from_->upstreams) {
        upstream_plan made;
        made.settings = &u;
        made.index = upstreams_.size();
        made.timeouts = {u.connect, u.first_byte, u.between_bytes, u.total};
        made.concurrency = concurrency_of(*from_, u);
        made.watched = watched(*from_, u);
        made.native_engine = u.engine;
        for (const config::replica& r : u.replicas) {
            made.candidates.push_back({r.id, r.weight});
            if (r.at.base_path.ends_with("/v1")) made.native_engine = {};
        }
        upstreams_.push_back(std::move(made));
    }
    policies_.reserve(from_->policies.size());
    for (const config::policy& p : from_->policies) {
        const auto ttl = p.ttl.value_or(from_->cache.ttl);
        using upstream::determinism::demand;
        policies_.push_back({&p, p.base == "bypass", p.base == "strict" ? demand::admitted : demand::any,
                             treatment_of(p), ttl.count(), body_changes(p)});
    }
    auto upstream_named = [&](std::string_view name) -> const upstream_plan* {
        auto at = std::ranges::find(upstreams_, name,
                                    [](const upstream_plan& u) { return std::string_view(u.settings->name); });
        return at == upstreams_.end() ? nullptr : &*at;
    };
    auto policy_named = [&](std::string_view name) -> const policy_plan* {
        auto at =
            std::ranges::find(policies_, name, [](const policy_plan& p) { return std::string_view(p.settings->name); });
        return at == policies_.end() ? nullptr : &*at;
    };
    // A validated configuration names only what exists; one that was not validated loses the route, never the process.
    for (const config::route& r : from_->routes) {
        const route_plan made{&r, upstream_named(r.upstream), policy_named(r.policy)};
        if (made.upstream && made.policy) routes_.push_back(made);
    }
}

const route_plan* plan::match(std::string_view path, std::string_view model,
                              const upstream::http::fields& headers) const noexcept {
    auto holds = [&](const route_plan& r) {
        const config::route& s = *r.settings;
        if (!s.path.empty() && !config::glob_match(s.path, path)) return false;
        if (!s.model.empty() && !model.empty() && !config::glob_match(s.model, model)) return false;
        return std::ranges::all_of(s.headers, [&](const auto& wanted) {
            const auto value = headers.find(wanted.first);
            return value && config::glob_match(wanted.second, *value);
        });
    };
    auto at = std::ranges::find_if(routes_, holds);
    return at == routes_.end() ? nullptr : &*at;
}

}  // namespace idem::gateway::pipeline
