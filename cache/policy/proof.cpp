#include "cache/policy/proof.hpp"

#include <algorithm>

namespace idem::cache {

proof_table::proof_table(std::size_t capacity, std::chrono::seconds lifetime)
    : shard_capacity_(std::max<std::size_t>(1, capacity / shard_count)), lifetime_(lifetime), shards_(shard_count) {}

void proof_table::accepted(const digest& credential, time_point now) {
    write(credential, {now, true});
}

void proof_table::refused(const digest& credential, time_point now) {
    write(credential, {now, false});
}

bool proof_table::proven(const digest& credential, time_point now) const {
    const shard& s = shard_of(credential);
    const std::lock_guard guard(s.lock);
    const auto at = s.records.find(credential);
    return at != s.records.end() && at->second.good && now - at->second.written < lifetime_;
}

bool proof_table::closed(const digest& credential) const {
    if (refusals_.load(std::memory_order_relaxed) == 0) return false;
    const shard& s = shard_of(credential);
    const std::lock_guard guard(s.lock);
    const auto at = s.records.find(credential);
    return at != s.records.end() && !at->second.good;
}

std::size_t proof_table::size() const {
    std::size_t n = 0;
    for (const shard& s : shards_) {
        const std::lock_guard guard(s.lock);
        n += s.records.size();
    }
    return n;
}

void proof_table::write(const digest& credential, record r) {
    shard& s = shards_[credential.bytes[0] % shard_count];
    const std::lock_guard guard(s.lock);
    if (s.records.size() >= shard_capacity_ && !s.records.contains(credential)) make_room(s);
    const auto [at, made] = s.records.try_emplace(credential, r);
    if (!made && !at->second.good) refusals_.fetch_sub(1, std::memory_order_relaxed);
    if (!r.good) refusals_.fetch_add(1, std::memory_order_relaxed);
    at->second = r;
}

// Drops the older half at once, so that the walk over the shard is paid for by many writes.
void proof_table::make_room(shard& s) {
    std::vector<time_point> times;
    times.reserve(s.records.size());
    for (const auto& [credential, r] : s.records) times.push_back(r.written);
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    std::erase_if(s.records, [&](const auto& entry) {
        const bool old = entry.second.written <= *middle;
        if (old && !entry.second.good) refusals_.fetch_sub(1, std::memory_order_relaxed);
        return old;
    });
}

}  // namespace idem::cache
