#include "gateway/pipeline/second_tier.hpp"

namespace idem::gateway::pipeline {

std::uint64_t outages_so_far(const shared& common) noexcept {
    const cache::outage_watch* watch = common.second ? common.second->outages() : nullptr;
    return watch ? watch->count.load(std::memory_order_acquire) : 0;
}

net::task<checked_lookup> find_stored(const shared& common, cache::cache_key key, cache::unix_ms now) {
    checked_lookup out;
    out.confirmed = outages_so_far(common);
    cache::lookup got = co_await common.second->find(key, now);
    out.got = std::move(got);
    if (out.got.status != cache::lookup_status::found) co_return out;
    // After the read: what was purged before it is seen.
    const auto bans = common.bans.table();
    out.checked = bans->latest();
    if (bans->hits(cache::subject_of(*out.got.value))) {
        out.got.status = cache::lookup_status::dead;
        out.got.dead_fill = out.got.value->fill;
    }
    co_return out;
}

net::task<cache::put_result> put_stored(const shared& common, cache::entry_ptr value, id128 replaces,
                                        cache::unix_ms now) {
    constexpr int tries = 2;
    cache::put_result put;
    for (int i = 0; i < tries; ++i) {
        cache::put_result one = co_await common.second->put(value, replaces, now);
        put = std::move(one);
        if (put.status != cache::put_status::lost || !put.winner) break;
        if (!common.bans.table()->hits(cache::subject_of(*put.winner))) break;
        replaces = put.winner->fill;
    }
    co_return put;
}

}  // namespace idem::gateway::pipeline
