#include "gateway/pipeline/first_tier.hpp"

#include "gateway/pipeline/second_tier.hpp"

namespace idem::gateway::pipeline {

namespace {

held_answer blind(const shared& common, cache::entry_ptr value) {
    if (common.plan.settings().cache.when_blind == config::cache::blind::miss) return {};
    return {std::move(value), true};
}

bool away(const shared& common) {
    const cache::outage_watch* watch = common.second ? common.second->outages() : nullptr;
    return watch && watch->away.load(std::memory_order_relaxed);
}

// What the second tier says of it: the entry itself, or the winner.
net::task<held_answer> confirm(services& at, cache::entry_ptr mine, cache::unix_ms now) {
    using enum cache::put_status;
    const std::uint64_t seen = at.common.second->outages()->count.load(std::memory_order_relaxed);
    cache::put_result put = co_await put_stored(at.common, mine, {}, now);
    if (put.status == stored) {
        at.common.metrics.confirmed(at.thread, "restored");
        co_return held_answer{std::move(mine), false};
    }
    if (put.status == lost && put.winner) {
        const bool same = put.winner->fill == mine->fill;
        at.common.metrics.confirmed(at.thread, same ? "same" : "replaced");
        if (same) co_return held_answer{std::move(mine), false};
        at.common.memory.erase(mine->key);
        cache::entry_ptr winner = put.winner;
        at.common.memory.put(winner, now, cache::sequence_of(winner->ban), seen);
        co_return held_answer{std::move(winner), false};
    }
    at.common.metrics.confirmed(at.thread, "failed");
    at.common.memory.doubt(mine->key);
    co_return blind(at.common, std::move(mine));
}

}  // namespace

bool barred_while_blind(const shared& common) {
    return common.plan.settings().cache.when_blind == config::cache::blind::miss && away(common);
}

held_answer held_now(const shared& common, const cache::cache_key& key, cache::unix_ms now) {
    bool confirmed = true;
    cache::entry_ptr value = common.memory.find(key, now, confirmed);
    if (!value || confirmed) return {std::move(value), false};
    return away(common) ? blind(common, std::move(value)) : held_answer{};
}

net::task<held_answer> held(services& at, cache::cache_key key, cache::unix_ms now) {
    bool confirmed = true;
    cache::entry_ptr value = at.common.memory.find(key, now, confirmed);
    if (!value || confirmed) co_return held_answer{std::move(value), false};
    if (away(at.common)) co_return blind(at.common, std::move(value));
    // Who comes meanwhile is given what there is.
    if (!at.common.memory.claim(key)) co_return held_answer{std::move(value), false};
    co_return co_await confirm(at, std::move(value), now);
}

void tell_blind(services& at, const held_answer& given, account& in) noexcept {
    in.unconfirmed = given.unconfirmed;
    if (given.unconfirmed) at.common.metrics.confirmed(at.thread, "blind");
}

}  // namespace idem::gateway::pipeline
