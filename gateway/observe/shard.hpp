#pragma once
// The counters of one thread. One writer, any number of readers: a writer's increment is a relaxed load and store, so
// it costs no bus lock; readers see each value whole, not all values of one instant. Fixed size, nothing allocates.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "upstream/base/reason.hpp"

namespace idem::gateway::observe::detail {

/// Written by one thread.
class counter {
public:
    void add(std::uint64_t n) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

/// A bounded set of label values, numbered from 1 in the order in which they came; 0 is everything that found no room.
class label_set {
public:
    static constexpr std::size_t capacity = 64, longest = 64;

    [[nodiscard]] std::uint8_t number(std::string_view text) noexcept {
        text = text.substr(0, longest);
        if (last_ != 0 && same(last_, text)) return last_;
        const auto used = used_.load(std::memory_order_relaxed);
        for (std::uint8_t i = 1; i <= used; ++i) {
            if (same(i, text)) return last_ = i;
        }
        if (used == capacity) return 0;
        auto& fresh = texts_[used];
        fresh.size = static_cast<std::uint8_t>(text.size());
        std::copy(text.begin(), text.end(), fresh.bytes.begin());  // the text may be empty and have no address
        used_.store(static_cast<std::uint8_t>(used + 1), std::memory_order_release);  // readers see the bytes first
        return last_ = static_cast<std::uint8_t>(used + 1);
    }
    [[nodiscard]] std::string_view text(std::uint8_t number) const noexcept {
        if (number == 0 || number > used_.load(std::memory_order_acquire)) return "other";
        const auto& t = texts_[number - 1u];
        return {t.bytes.data(), t.size};
    }

private:
    struct label {
        std::uint8_t size = 0;
        std::array<char, longest> bytes;
    };
    [[nodiscard]] bool same(std::uint8_t number, std::string_view text) const noexcept {
        const auto& t = texts_[number - 1u];
        return text == std::string_view(t.bytes.data(), t.size);
    }

    std::array<label, capacity> texts_;
    std::atomic<std::uint8_t> used_{0};
    std::uint8_t last_ = 0;
};

/// Families of counters with labels, and what their label numbers mean.
enum class family : std::uint8_t {
    none,
    requests,         // api, upstream, code, cache
    bypass,           // reason
    not_stored,       // reason
    stored,           // tier
    hits,             // tier
    upstream_calls,   // upstream, code
    upstream_errors,  // upstream, reason
    store_errors,     // tier, operation, reason
    output_changes,   // upstream, contrast
    ledger,           // operation: what became of a record
    confirmations,    // operation: what came of an entry
};

/// A family with up to four label numbers, packed; 0 is none.
[[nodiscard]] constexpr std::uint64_t pack(family f, std::uint8_t a = 0, std::uint8_t b = 0, std::uint8_t c = 0,
                                           std::uint8_t d = 0) noexcept {
    return static_cast<std::uint64_t>(f) << 32 | static_cast<std::uint64_t>(a) << 24 |
           static_cast<std::uint64_t>(b) << 16 | static_cast<std::uint64_t>(c) << 8 | d;
}

/// Open addressing; entries are never removed.
class cell_table {
public:
    static constexpr std::size_t size = 4096, full = 3500;

    struct cell {
        std::atomic<std::uint64_t> key{0};
        counter count;
    };
    void add(std::uint64_t key) noexcept {
        std::size_t i = (key * 0x9E3779B97F4A7C15ull) >> 52;
        while (true) {
            cell& c = cells_[i];
            const auto there = c.key.load(std::memory_order_relaxed);
            if (there == key) return c.count.add(1);
            if (there == 0) {
                const auto rest = pack(static_cast<family>(key >> 32));
                if (used_ >= full && key != rest) return add(rest);  // no more room: counted with all labels `other`
                ++used_;
                c.key.store(key, std::memory_order_relaxed);
                return c.count.add(1);
            }
            i = (i + 1) % size;
        }
    }
    [[nodiscard]] const std::array<cell, size>& cells() const noexcept { return cells_; }

private:
    std::array<cell, size> cells_;
    std::size_t used_ = 0;
};
static_assert(cell_table::size == 1u << (64 - 52));

/// Upper bounds of the buckets in microseconds: a memory hit takes tens of microseconds, a long answer many minutes.
inline constexpr std::array<std::uint32_t, 21> bounds_us{
    50,        100,       250,        500,        1'000,      2'500,       5'000,
    10'000,    25'000,    50'000,     100'000,    250'000,    500'000,     1'000'000,
    2'500'000, 5'000'000, 10'000'000, 30'000'000, 60'000'000, 300'000'000, 900'000'000};

struct histogram {
    std::array<counter, bounds_us.size() + 1> buckets;  // each counts its own interval
    counter sum_us;

    void observe(std::uint32_t us) noexcept {
        const auto* at = std::lower_bound(bounds_us.begin(), bounds_us.end(), us);
        buckets[static_cast<std::size_t>(at - bounds_us.begin())].add(1);
        sum_us.add(us);
    }
};

inline constexpr std::size_t outcomes = 6, reasons = static_cast<std::size_t>(reason::count_);

struct alignas(128) shard {
    // Touched by every request: first, so that they lie together.
    std::array<counter, outcomes> by_outcome;
    counter saved_in, saved_out, saved_ms;
    std::array<histogram, outcomes> duration, first_byte;
    std::array<counter, reasons> by_reason;
    label_set apis, upstreams, tiers, operations;
    cell_table cells;
    std::array<histogram, label_set::capacity + 1> upstream_duration;  // by number in `upstreams`
};

/// Status codes that have a label of their own, numbered; others count as their class.
[[nodiscard]] std::uint8_t code_number(unsigned status) noexcept;
[[nodiscard]] std::string_view code_text(std::uint8_t number) noexcept;

}  // namespace idem::gateway::observe::detail
