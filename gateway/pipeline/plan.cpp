#include "gateway/pipeline/plan.hpp"

#include <algorithm>

#include "gateway/config/glob.hpp"

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

// Those that a client may ask for by name, from the mildest on.
int strictness(std::string_view policy) noexcept {
    constexpr std::string_view order[] = {"relaxed", "seeded", "strict"};
    const auto* const at = std::ranges::find(order, policy);
    return at == std::end(order) ? -1 : static_cast<int>(at - std::begin(order));
}

bool engine_can(const upstream::engine::profile& engine, const config::policy& policy) noexcept {
    return (policy.base != "strict" || engine.strict) && (policy.base != "seeded" || engine.seeds);
}

// Whether a client may leave `usual` for `asked`.
bool may_ask(const config::policy& usual, const config::policy& asked) noexcept {
    if (usual.base == "bypass" || usual.base == "offline" || asked.base == "bypass" || asked.base == "offline")
        return false;
    if (std::ranges::find(asked.above, usual.name) != asked.above.end()) return true;
    return asked.name == asked.base && strictness(asked.base) > strictness(usual.base);
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
        made.engine = upstream::engine::find(u.engine);
        if (!made.engine) made.engine = &upstream::engine::generic;
        for (const config::replica& r : u.replicas) {
            made.candidates.push_back({r.id, r.weight});
            if (r.at.base_path.ends_with("/v1")) made.native_engine = {};
        }
        made.contest = upstream::route::contest(made.candidates);
        upstreams_.push_back(std::move(made));
    }
    policies_.reserve(from_->policies.size());
    for (const config::policy& p : from_->policies) {
        const auto ttl = p.ttl.value_or(from_->cache.ttl);
        using upstream::determinism::demand;
        policies_.push_back({&p, p.base == "bypass", p.base == "strict" ? demand::admitted : demand::any, ttl.count()});
    }
    // A validated configuration names only what exists and what engines can do; of one that was not validated the
    // route is lost, never the process.
    for (const config::route& r : from_->routes) {
        const policy_plan* usual = policy_named(r.policy);
        choice made;
        if (usual) made.usual = route_under(r, *usual);
        if (!made.usual) continue;
        for (const policy_plan& p : policies_) {
            if (!may_ask(*usual->settings, *p.settings)) continue;
            // Strict is offered where the operator has made room for it: a call beside it would change its answer, and
            // nobody looks at a replica only where that was wished.
            const upstream_plan& to = *made.usual->upstream;
            const bool looked_at = to.watched || to.settings->probe == config::upstream_pool::watching::off;
            const bool room = looked_at && to.concurrency.mode != config::concurrency::rule::unlimited;
            if (p.settings->base == "strict" && !room) continue;
            if (auto other = route_under(r, p)) made.others.push_back(std::move(other));
        }
        if (!made.usual->offline) {
            auto stored = std::make_unique<route_plan>(*made.usual);
            stored->asked = "offline";
            stored->offline = true;
            made.others.push_back(std::move(stored));
        }
        routes_.push_back(std::move(made));
    }
}

const upstream_plan* plan::upstream_named(std::string_view name) const noexcept {
    const auto at =
        std::ranges::find(upstreams_, name, [](const upstream_plan& u) { return std::string_view(u.settings->name); });
    return at == upstreams_.end() ? nullptr : &*at;
}

const policy_plan* plan::policy_named(std::string_view name) const noexcept {
    const auto at =
        std::ranges::find(policies_, name, [](const policy_plan& p) { return std::string_view(p.settings->name); });
    return at == policies_.end() ? nullptr : &*at;
}

std::unique_ptr<route_plan> plan::route_under(const config::route& r, const policy_plan& asked) {
    auto made = std::make_unique<route_plan>();
    made->settings = &r;
    made->upstream = upstream_named(r.upstream);
    made->policy = &asked;
    made->asked = asked.settings->name;
    if (asked.settings->base == "offline") {
        made->offline = true;
        made->policy = policy_named(asked.settings->of.empty() ? "relaxed" : asked.settings->of);
    }
    if (!made->upstream || !made->policy || !engine_can(*made->upstream->engine, *made->policy->settings))
        return nullptr;
    // Many routes share few treatments.
    const treatment*& same = treatment_of_[{made->policy->settings, made->upstream->engine, r.rename}];
    if (!same) {
        same = treatments_
                   .emplace_back(
                       std::make_unique<const treatment>(*made->policy->settings, *made->upstream->engine, r.rename))
                   .get();
    }
    made->treatment = same;
    return made;
}

const route_plan* plan::match(const sought& call, const upstream::http::fields& headers) const {
    const auto speaks = [&](const route_plan& r) {
        const std::string& wanted = r.settings->dialect;
        if (wanted.empty()) return true;
        if (!call.api) return config::glob_match(wanted, config::passthrough);
        const auto& api = call.api->shares_path() ? call.api->meant(r.upstream->native_engine, call.body) : *call.api;
        return config::glob_match(wanted, api.name());
    };
    const auto holds = [&](const choice& c) {
        const config::route& s = *c.usual->settings;
        if (!s.path.empty() && !config::glob_match(s.path, call.path)) return false;
        if (!s.model.empty() && !call.model.empty() && !config::glob_match(s.model, call.model)) return false;
        const bool headers_are = std::ranges::all_of(s.headers, [&](const auto& wanted) {
            const auto value = headers.find(wanted.first);
            return value && config::glob_match(wanted.second, *value);
        });
        return headers_are && speaks(*c.usual);
    };
    const auto at = std::ranges::find_if(routes_, holds);
    return at == routes_.end() ? nullptr : at->usual.get();
}

const plan::choice* plan::choice_of(const route_plan& route) const noexcept {
    const auto at = std::ranges::find(routes_, &route, [](const choice& c) { return c.usual.get(); });
    return at == routes_.end() ? nullptr : &*at;
}

std::string plan::offered(const route_plan& route) const {
    std::vector<std::string_view> names{route.asked};
    if (const choice* of = choice_of(route))
        for (const auto& other : of->others) names.push_back(other->asked);
    std::ranges::sort(names);
    std::string out;
    for (const std::string_view name : names) out.append(out.empty() ? "" : ", ").append(name);
    return out;
}

const route_plan* plan::under(const route_plan& route, std::string_view policy) const noexcept {
    const std::string_view base = route.offline ? std::string_view("offline") : route.policy->settings->base;
    if (policy == route.asked || policy == base) return &route;
    const choice* of = choice_of(route);
    if (!of) return nullptr;
    const auto at = std::ranges::find(of->others, policy, [](const auto& other) { return other->asked; });
    return at == of->others.end() ? nullptr : at->get();
}

}  // namespace idem::gateway::pipeline
