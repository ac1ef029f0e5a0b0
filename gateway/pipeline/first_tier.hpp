#pragma once
// The memory tier beside a second one that was away: an entry that was filled or kept meanwhile is held against the
// second tier at its first use after that. One "create if absent" restores what was lost there, or yields the winner,
// which takes our entry's place.
#include "gateway/pipeline/reply.hpp"
#include "gateway/pipeline/services.hpp"

namespace idem::gateway::pipeline {

struct held_answer {
    cache::entry_ptr value;
    bool unconfirmed = false;  // the second tier cannot be asked: it may know another by now
};
/// The second tier is away, and memory may not answer for it (cache.when_blind).
[[nodiscard]] bool barred_while_blind(const shared& common);
/// What memory gives without waiting. Null where it has nothing, where cache.when_blind forbids it, and where it has to
/// be confirmed first.
[[nodiscard]] held_answer held_now(const shared& common, const cache::cache_key& key, cache::unix_ms now);
/// The same, after the confirmation where one is due. Of many that ask at once one confirms.
[[nodiscard]] net::task<held_answer> held(services& at, cache::cache_key key, cache::unix_ms now);

/// In the account of a hit, and in the metrics, where it is given unconfirmed.
void tell_blind(services& at, const held_answer& given, account& in) noexcept;

}  // namespace idem::gateway::pipeline
