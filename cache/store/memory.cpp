#include "cache/store/memory.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <mutex>
#include <vector>

#include "cache/store/s3fifo.hpp"

namespace idem::cache {
namespace {

// Enough that two cores seldom meet, few enough that each has a useful share.
constexpr std::size_t most_shards = 64;
constexpr std::size_t bytes_per_shard = 4 << 20;

}  // namespace

struct memory_store::impl {
    struct alignas(64) shard {
        std::mutex mutex;
        s3fifo entries;
    };

    impl(std::size_t bytes, const bans* purged)
        : capacity(bytes),
          purged(purged),
          shards(std::bit_floor(std::clamp<std::size_t>(bytes / bytes_per_shard, 1, most_shards))) {}

    // The hash table inside a shard uses the first bytes of the key, the choice of the shard the last.
    [[nodiscard]] std::size_t home(const cache_key& key) const noexcept {
        return key.value.bytes.back() & (shards.size() - 1);
    }

    // The budget is one for all shards, so that an entry may be larger than a shard's share. Bytes are reserved before
    // they are used: the sum never exceeds the capacity, not for an instant.
    [[nodiscard]] bool reserve(std::size_t size) noexcept {
        std::size_t used = bytes.load(std::memory_order_relaxed);
        do {
            if (size > capacity - used) return false;
        } while (!bytes.compare_exchange_weak(used, used + size, std::memory_order_relaxed));
        return true;
    }
    void release(std::size_t size) noexcept { bytes.fetch_sub(size, std::memory_order_relaxed); }

    // Evicts from one shard, whose lock is held, until `size` bytes are reserved or it is empty. What goes is kept in
    // `gone` so that large bodies are freed after the lock.
    [[nodiscard]] bool reserve_from(shard& s, std::size_t size, std::vector<entry_ptr>& gone) {
        while (!reserve(size)) {
            s3fifo::held out = s.entries.evict();
            if (out.value == nullptr) return false;
            release(out.size);
            evictions.fetch_add(1, std::memory_order_relaxed);
            gone.push_back(std::move(out.value));
        }
        return true;
    }

    [[nodiscard]] static bool is_purged(const s3fifo::held& what, const ban_table& by) {
        return what.checked < by.latest() && (what.checked < by.horizon() || by.hits(subject_of(*what.value)));
    }

    [[nodiscard]] std::uint64_t outages() const noexcept {
        return second == nullptr ? 0 : second->count.load(std::memory_order_acquire);
    }

    [[nodiscard]] bool good(s3fifo::held& what) const {
        if (purged == nullptr || what.checked >= purged->latest()) return true;
        const std::shared_ptr<const ban_table> by = purged->table();
        if (is_purged(what, *by)) return false;
        what.checked = by->latest();
        return true;
    }

    // The live entry under this key, or null once there is none: one that is not live is taken out.
    [[nodiscard]] entry_ptr live(shard& s, const cache_key& key, unix_ms now, entry_ptr& gone,
                                 s3fifo::held** where = nullptr) {
        s3fifo::held* const there = s.entries.find(key);
        if (there == nullptr) return nullptr;
        if (where != nullptr) *where = there;
        if (now < there->value->fresh_until && good(*there)) return there->value;
        s3fifo::held out = s.entries.erase(key);
        release(out.size);
        gone = std::move(out.value);
        return nullptr;
    }

    const std::size_t capacity;
    const bans* const purged;
    const outage_watch* second = nullptr;
    std::vector<shard> shards;
    std::atomic<std::size_t> bytes{0};
    std::atomic<std::uint64_t> evictions{0};
};

memory_store::memory_store(std::size_t capacity, const bans* purged)
    : impl_(std::make_unique<impl>(capacity, purged)) {}
memory_store::~memory_store() = default;

entry_ptr memory_store::find(const cache_key& key, unix_ms now) {
    auto& shard = impl_->shards[impl_->home(key)];
    entry_ptr expired;  // freed after the lock
    const std::lock_guard lock(shard.mutex);
    return impl_->live(shard, key, now, expired);
}

void memory_store::watch(const outage_watch* second) noexcept {
    impl_->second = second;
}

entry_ptr memory_store::find(const cache_key& key, unix_ms now, bool& confirmed) {
    auto& shard = impl_->shards[impl_->home(key)];
    entry_ptr gone;  // freed after the lock
    const std::lock_guard lock(shard.mutex);
    s3fifo::held* there = nullptr;
    entry_ptr value = impl_->live(shard, key, now, gone, &there);
    confirmed = !value || there->confirmed >= impl_->outages();
    return value;
}

bool memory_store::claim(const cache_key& key) {
    auto& shard = impl_->shards[impl_->home(key)];
    const std::lock_guard lock(shard.mutex);
    s3fifo::held* const there = shard.entries.find(key);
    const std::uint64_t now = impl_->outages();
    if (there == nullptr || there->confirmed >= now) return false;
    there->confirmed = now;
    return true;
}

void memory_store::doubt(const cache_key& key) {
    auto& shard = impl_->shards[impl_->home(key)];
    const std::lock_guard lock(shard.mutex);
    if (s3fifo::held* const there = shard.entries.find(key)) there->confirmed = 0;
}

bool memory_store::takes(const entry& value) const noexcept {
    return charge(value) <= impl_->capacity / 2;
}

entry_ptr memory_store::put(entry_ptr value, unix_ms now) {
    const std::uint64_t begun = sequence_of(value->ban);
    return put(std::move(value), now, begun, 0);
}

entry_ptr memory_store::put(entry_ptr value, unix_ms now, std::uint64_t checked, std::uint64_t confirmed) {
    const std::size_t size = charge(*value);
    if (size > impl_->capacity / 2) return value;
    const std::size_t home = impl_->home(value->key);
    auto& shard = impl_->shards[home];
    std::vector<entry_ptr> gone;
    entry_ptr expired;
    bool reserved = false;
    {
        const std::lock_guard lock(shard.mutex);
        if (entry_ptr there = impl_->live(shard, value->key, now, expired)) return there;
        reserved = impl_->reserve_from(shard, size, gone);
        if (reserved) {
            shard.entries.insert({value, size, checked, confirmed});
            return value;
        }
    }
    // The home shard is empty and there is still no room: a large entry. The others give, one lock at a time.
    for (std::size_t i = 1; i < impl_->shards.size() && !reserved; ++i) {
        auto& other = impl_->shards[(home + i) & (impl_->shards.size() - 1)];
        const std::lock_guard lock(other.mutex);
        reserved = impl_->reserve_from(other, size, gone);
    }
    if (!reserved) return value;
    const std::lock_guard lock(shard.mutex);
    if (entry_ptr there = impl_->live(shard, value->key, now, expired)) {
        impl_->release(size);
        return there;
    }
    shard.entries.insert({value, size, checked, confirmed});
    return value;
}

bool memory_store::erase(const cache_key& key) {
    auto& shard = impl_->shards[impl_->home(key)];
    s3fifo::held out;
    const std::lock_guard lock(shard.mutex);
    out = shard.entries.erase(key);
    impl_->release(out.size);
    return out.value != nullptr;
}

std::size_t memory_store::drop_purged() {
    if (impl_->purged == nullptr) return 0;
    const std::shared_ptr<const ban_table> by = impl_->purged->table();
    std::size_t dropped = 0;
    for (auto& shard : impl_->shards) {
        std::vector<s3fifo::held> gone;  // freed after the lock
        const std::lock_guard lock(shard.mutex);
        gone = shard.entries.erase_if([&](const s3fifo::held& what) { return impl::is_purged(what, *by); });
        for (const s3fifo::held& each : gone) impl_->release(each.size);
        dropped += gone.size();
    }
    return dropped;
}

entry_page memory_store::list(const std::string& from) const {
    std::size_t at = 0;
    std::from_chars(from.data(), from.data() + from.size(), at);
    entry_page page;
    if (at >= impl_->shards.size()) return page;
    {
        auto& shard = impl_->shards[at];
        const std::lock_guard lock(shard.mutex);
        shard.entries.for_each([&](const s3fifo::held& what) { page.entries.push_back(what.value); });
    }
    if (at + 1 < impl_->shards.size()) page.next = std::to_string(at + 1);
    return page;
}

std::size_t memory_store::count(const ban_table& by) const {
    std::size_t found = 0;
    const auto already = impl_->purged != nullptr ? impl_->purged->table() : std::make_shared<const ban_table>();
    const auto reached = [&](const s3fifo::held& what) {
        return impl::is_purged(what, by) && !impl::is_purged(what, *already);
    };
    for (auto& shard : impl_->shards) {
        const std::lock_guard lock(shard.mutex);
        shard.entries.for_each([&](const s3fifo::held& what) { found += reached(what) ? 1 : 0; });
    }
    return found;
}

memory_stats memory_store::stats() const {
    memory_stats result;
    for (auto& shard : impl_->shards) {
        const std::lock_guard lock(shard.mutex);
        result.entries += shard.entries.count();
    }
    result.bytes = impl_->bytes.load(std::memory_order_relaxed);
    result.capacity = impl_->capacity;
    result.evictions = impl_->evictions.load(std::memory_order_relaxed);
    return result;
}

}  // namespace idem::cache
