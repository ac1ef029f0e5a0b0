#pragma once
// The memory tier: sharded, byte-bounded, scan-resistant (S3-FIFO, see s3fifo.hpp). Synchronous; any thread; a hit
// takes one shard lock for a few dozen instructions and allocates nothing.
//
// What was purged is not there: an entry is held against the bans when they have changed since it was last looked at,
// so a hit without news compares one number.
//
// Where the second tier may lose what it had, an entry is also known to be confirmed by it, or not: see
// outage_watch.hpp.
//
// The byte budget is one for all shards: an entry may be larger than a shard's share, and then other shards give way
// too. An entry above half of the whole budget is not kept: it would empty the tier for one answer.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "cache/state/bans.hpp"
#include "cache/store/outage_watch.hpp"
#include "cache/store/page.hpp"

namespace idem::cache {

struct memory_stats {
    std::uint64_t entries = 0, bytes = 0, capacity = 0, evictions = 0;
};

class memory_store {
public:
    /// `capacity` bytes as charge() counts them; 0 turns the tier off (find is always null, put keeps nothing).
    /// `purged` outlives it; null: nothing is ever purged.
    explicit memory_store(std::size_t capacity, const bans* purged = nullptr);
    ~memory_store();
    /// Of the second tier, which outlives it. Before the first entry. Without one, or null, all is confirmed.
    void watch(const outage_watch* second) noexcept;
    memory_store(const memory_store&) = delete;
    memory_store& operator=(const memory_store&) = delete;
    /// Live entry or null; an entry that is purged, or past fresh_until, is not live.
    [[nodiscard]] entry_ptr find(const cache_key& key, unix_ms now);
    /// `confirmed`: whether the second tier had it after its last outage.
    [[nodiscard]] entry_ptr find(const cache_key& key, unix_ms now, bool& confirmed);
    /// The caller will confirm what is under this key; until it says otherwise it counts as confirmed. False: another
    /// one has, or there is nothing to confirm.
    [[nodiscard]] bool claim(const cache_key& key);
    /// It could not be confirmed.
    void doubt(const cache_key& key);
    /// Whether the tier is on and the entry is not too large for it.
    [[nodiscard]] bool takes(const entry& value) const noexcept;
    /// First writer wins: returns the entry that now holds the key (`value`, or the live one that was there).
    entry_ptr put(entry_ptr value, unix_ms now);
    /// Of an entry that was found not purged up to this change, as ban_table::latest() says it, and that the second
    /// tier had after so many outages.
    entry_ptr put(entry_ptr value, unix_ms now, std::uint64_t checked, std::uint64_t confirmed);
    bool erase(const cache_key& key);
    /// Removes what is purged and was not asked for since. Takes one shard's lock after another.
    std::size_t drop_purged();
    /// The entries of one shard; `from` and `next` as store::list() has them.
    [[nodiscard]] entry_page list(const std::string& from) const;
    /// How many entries `by` purges that are not purged already. Takes one shard's lock after another.
    [[nodiscard]] std::size_t count(const ban_table& by) const;
    [[nodiscard]] memory_stats stats() const;

private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace idem::cache
