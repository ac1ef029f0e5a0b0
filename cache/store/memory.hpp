#pragma once
// The memory tier: sharded, byte-bounded, scan-resistant (S3-FIFO, see s3fifo.hpp). Synchronous; any thread; a hit
// takes one shard lock for a few dozen instructions and allocates nothing.
//
// The byte budget is one for all shards: an entry may be larger than a shard's share, and then other shards give way
// too. An entry above half of the whole budget is not kept: it would empty the tier for one answer.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "cache/entry/entry.hpp"

namespace idem::cache {

struct memory_stats {
    std::uint64_t entries = 0, bytes = 0, capacity = 0, evictions = 0;
};

class memory_store {
public:
    /// `capacity` bytes as charge() counts them; 0 turns the tier off (find is always null, put keeps nothing).
    explicit memory_store(std::size_t capacity);
    ~memory_store();
    memory_store(const memory_store&) = delete;
    memory_store& operator=(const memory_store&) = delete;
    /// Live entry or null; an entry past fresh_until is not live.
    [[nodiscard]] entry_ptr find(const cache_key& key, unix_ms now);
    /// Whether the tier is on and the entry is not too large for it.
    [[nodiscard]] bool takes(const entry& value) const noexcept;
    /// First writer wins: returns the entry that now holds the key (`value`, or the live one that was there).
    entry_ptr put(entry_ptr value, unix_ms now);
    bool erase(const cache_key& key);
    [[nodiscard]] memory_stats stats() const;

private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace idem::cache
