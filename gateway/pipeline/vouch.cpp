#include "gateway/pipeline/vouch.hpp"

#include "upstream/determinism/prober.hpp"

namespace idem::gateway::pipeline {

namespace determinism = upstream::determinism;
using determinism::condition;
using determinism::replica_state;

namespace {

determinism::isolation isolation_of(config::concurrency::rule mode) noexcept {
    using rule = config::concurrency::rule;
    if (mode == rule::serial) return determinism::isolation::serial;
    return mode == rule::batch_invariant ? determinism::isolation::batch_invariant : determinism::isolation::none;
}

}  // namespace

witness::witness(services& at, const fill_order& order, std::size_t replica, condition before, part plays)
    : at_(at),
      order_(order),
      replica_(replica),
      health_(*at.common.health[order.route->upstream->index]),
      before_(std::move(before)),
      plays_(plays) {}

net::task<bool> witness::same_facts() {
    const config::upstream_pool& pool = *order_.route->upstream->settings;
    const upstream::client::target to = upstream::client::beside_api(pool.replicas[replica_].at);
    // As whoever watches the replica asks: another credential may be shown more, which would look like a change.
    const auto credential = [this] {
        upstream::http::fields out;
        health_.credential.add_to(out, net::clock::now());
        return out;
    };
    determinism::prober ask(at_.connections, to, order_.route->upstream->timeouts,
                            order_.route->upstream->engine->probes, credential);
    auto read = co_await ask.read_facts();
    if (!read.facts) co_return false;
    const determinism::requirements by{pool.environment.lock, pool.environment.declared};
    const auto now = determinism::completed(std::move(*read.facts), by, upstream::engine::numeric_facts);
    co_return now.id() == before_.environment;
}

bool witness::drifted(const upstream::dialect::verdict& answer) const {
    if (!answer.tokens || answer.tokens->input == 0) return false;
    const std::uint64_t now = answer.tokens->input;
    return !(plays_ == part::fill ? health_.prompts.same(order_.request, now)
                                  : health_.prompts.fits(order_.request, now));
}

net::task<testimony> witness::testify(const upstream::dialect::verdict& answer) {
    testimony t;
    t.environment = order_.epoch.environment;
    // Whatever a fingerprint covers, and whoever watches: of an answer with two of them two environments made a part.
    if (answer.fingerprint_changed) {
        t.refuse = reason::environment_changed;
        health_.roster.suspect(replica_);
        co_return t;
    }
    if (!health_.roster.watched()) co_return t;
    const bool strict = order_.route->policy->demands == determinism::demand::admitted;
    const bool fingerprints = order_.route->upstream->engine->probes.fingerprint;
    const bool other_print = fingerprints && !before_.fingerprint.empty() && !answer.fingerprint.empty() &&
                             answer.fingerprint != before_.fingerprint;
    bool changed = other_print;
    if (strict && !changed) changed = !co_await same_facts();
    const condition after = health_.roster.get(replica_);
    if (before_.facts) t.environment = before_.environment;
    if (before_.facts && after.environment != before_.environment) changed = true;
    if (changed) {
        t.refuse = reason::environment_changed;
        health_.roster.suspect(replica_);
        co_return t;
    }
    if (order_.epoch.by_hand && t.environment != order_.epoch.environment) {
        t.refuse = reason::epoch_readonly;
        co_return t;
    }
    if (drifted(answer) && strict) t.refuse = reason::prompt_drift;

    determinism::circumstances c;
    // Golden prompts say nothing of calls in which nothing is sampled.
    c.strict = strict && upstream::engine::samples(order_.api->name());
    c.weakened = order_.weakened;
    c.how = isolation_of(order_.route->upstream->concurrency.mode);
    c.exclusive = order_.route->upstream->settings->exclusive;
    const auto fit = [this](const condition& x) {
        return x.state == replica_state::admitted && x.environment == order_.epoch.environment;
    };
    c.admitted = fit(before_) && fit(after);
    c.diverging = before_.diverging || after.diverging;
    c.runs = after.runs;
    const auto all = health_.roster.all();
    for (std::size_t i = 0; i < all.size(); ++i) c.siblings += i != replica_ && fit(all[i]) && all[i].runs > 0;
    t.promise = determinism::guarantee_of(c);
    co_return t;
}

}  // namespace idem::gateway::pipeline
