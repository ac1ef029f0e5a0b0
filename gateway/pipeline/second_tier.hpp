#pragma once
// The second tier as the data path sees it: an entry that was purged is a dead one, whoever finds it.
#include "gateway/pipeline/services.hpp"

namespace idem::gateway::pipeline {

struct checked_lookup {
    cache::lookup got;
    std::uint64_t checked = 0;    // with found: up to which change of the bans
    std::uint64_t confirmed = 0;  // with found: after how many outages
};
/// REQUIRES a second tier, of both.
[[nodiscard]] net::task<checked_lookup> find_stored(const shared& common, cache::cache_key key, cache::unix_ms now);
/// How often the second tier was lost so far; 0 where it cannot be. Before it is asked: what it says then is confirmed.
[[nodiscard]] std::uint64_t outages_so_far(const shared& common) noexcept;
/// First writer wins, and a purged one has lost. Put again for ever it is not: what comes back then as the winner may
/// be purged, too, and the next look-up finds that.
[[nodiscard]] net::task<cache::put_result> put_stored(const shared& common, cache::entry_ptr value, id128 replaces,
                                                      cache::unix_ms now);

}  // namespace idem::gateway::pipeline
