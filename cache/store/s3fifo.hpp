#pragma once
// S3-FIFO: which entries a byte-bounded cache keeps (Yang, Zhang, Qiu, Yue, Rashmi: "FIFO queues are all you need for
// cache eviction", SOSP 2023, algorithm 1). Three queues in order of arrival:
//
//   small   where a key arrives; leaves from here unseen most one-hit wonders
//   main    what was asked for again while in small, or came back soon after it left
//   ghost   hashes, without values, of what small let go
//
// A hit only counts, up to 3; nothing moves until something must go. A scan of keys asked for once therefore passes
// through small and leaves main alone. Not thread-safe: one shard of memory_store owns one of these under its lock.
//
// The policy does not know the byte bound: its owner calls evict() until there is room.
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "cache/entry/entry.hpp"

namespace idem::cache {

class s3fifo {
public:
    s3fifo() = default;
    ~s3fifo();
    s3fifo(const s3fifo&) = delete;
    s3fifo& operator=(const s3fifo&) = delete;

    struct held {
        entry_ptr value;
        std::size_t size = 0;  // as it was given to insert(); 0 with a null value
        // Its owner's: up to which change of the bans it is known to be good, and after how many outages the second
        // tier had it.
        std::uint64_t checked = 0, confirmed = 0;
    };
    /// What is under this key, which is noted as used, or null. Valid until the next change.
    [[nodiscard]] held* find(const cache_key& key) noexcept;
    /// The key must not be present.
    void insert(held what);
    held erase(const cache_key& key);
    /// Takes out all for which `bad` is true.
    template <class Predicate>
    std::vector<held> erase_if(Predicate bad) {
        std::vector<node*> found;
        for (const auto& [key, n] : map_)
            if (bad(*n)) found.push_back(n);
        std::vector<held> out;
        for (node* n : found) out.push_back(drop(n));
        return out;
    }
    template <class Function>
    void for_each(Function each) const {
        for (const auto& [key, n] : map_) each(*n);
    }
    /// Lets the next one go; null if nothing is left.
    held evict();

    [[nodiscard]] std::size_t count() const noexcept { return map_.size(); }

private:
    struct node : held {
        node* older = nullptr;
        node* newer = nullptr;
        std::uint8_t uses = 0;
        bool in_main = false;
    };
    // Intrusive queue; nodes leave at the oldest end or, when erased, from anywhere.
    struct queue {
        node* oldest = nullptr;
        node* newest = nullptr;
        std::size_t bytes = 0;
        void push(node* n) noexcept;
        void remove(node* n) noexcept;
    };

    held drop(node* n);
    held evict_small();
    held evict_main();
    void remember(const cache_key& key);

    boost::unordered_flat_map<cache_key, node*, std::hash<cache_key>> map_;
    queue small_, main_;
    std::deque<std::uint64_t> ghost_order_;
    boost::unordered_flat_set<std::uint64_t> ghosts_;
};

}  // namespace idem::cache
