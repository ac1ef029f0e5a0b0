#pragma once
// All fills in progress in this process, by key. Any thread; sharded mutex, short sections.
#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "cache/flight/flight.hpp"

namespace idem::cache {

class flight_table {
public:
    struct joined {
        std::unique_ptr<follower> place;
        bool leads = false;  // the caller must start the fill of place->of()
    };
    /// Follows the flight of the subject's key, or starts one whose fill will run on `on`, the caller's thread. A
    /// flight that was purged since it began goes on for those who follow it, stores nothing and takes nobody new.
    [[nodiscard]] joined join(const ban_subject& subject, net::executor on, flight::limits limits,
                              const ban_table& bans);
    /// A flight that nobody else can join: no-cache and no-store calls.
    [[nodiscard]] static joined alone(net::executor on, flight::limits limits);
    /// The fill has ended, or can no longer be stored: later callers start anew.
    void remove(const cache_key& key, const flight& which);
    /// The key was deleted: the flight goes on for those who follow it, stores nothing and takes nobody new.
    /// False: there is none.
    [[nodiscard]] bool invalidate(const cache_key& key);
    [[nodiscard]] std::size_t size() const;
    /// Of all flights that can be joined.
    [[nodiscard]] std::size_t followers() const;

private:
    struct shard {
        mutable std::mutex mutex;
        std::unordered_map<cache_key, std::shared_ptr<flight>> flights;
    };
    [[nodiscard]] shard& of(const cache_key& key) { return shards_[key.value.bytes[31] % shards_.size()]; }
    std::array<shard, 16> shards_;
};

}  // namespace idem::cache
