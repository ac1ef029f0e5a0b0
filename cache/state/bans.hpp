#pragma once
// Which entries were purged, as this process knows it. A ban fits by what an entry says of itself, and holds for those
// whose fill began before it: an entry carries the mark of the state record that was known then.
//
// One writer (the keeper of the state record), many readers. A reader that has checked an entry remembers up to which
// change, and compares one number until there is news.
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/entry/entry.hpp"
#include "cache/state/state_record.hpp"

namespace idem::cache {

/// Lineage and sequence, eight bytes each, most significant first: what an entry carries.
[[nodiscard]] id128 ban_mark(std::uint64_t lineage, std::uint64_t sequence) noexcept;
[[nodiscard]] std::uint64_t sequence_of(const id128& mark) noexcept;

/// What bans look at: an entry, or a flight that may become one.
struct ban_subject {
    cache_key key;
    std::span<const std::string> tags;
    std::string_view model, route, upstream, scope;
    unix_ms created = 0;
    id128 mark;
};
[[nodiscard]] ban_subject subject_of(const entry& e) noexcept;

/// Immutable; any thread.
class ban_table {
public:
    ban_table() = default;
    explicit ban_table(const state_record& of);
    /// Also true for a mark of another lineage: what was purged there is not known.
    [[nodiscard]] bool hits(const ban_subject& s) const;
    /// For fills that begin now.
    [[nodiscard]] id128 mark() const noexcept { return ban_mark(lineage_, latest_); }
    /// The last change that concerned bans. What was checked up to it needs no look.
    [[nodiscard]] std::uint64_t latest() const noexcept { return latest_; }
    /// Of what was checked up to a change before this one it is not known whether it was purged since.
    [[nodiscard]] std::uint64_t horizon() const noexcept { return horizon_; }
    /// The last change that asked for copies to be removed.
    [[nodiscard]] std::uint64_t last_erasure() const noexcept { return last_erasure_; }

private:
    struct by_value {
        std::string value;
        std::uint64_t at;
    };
    [[nodiscard]] bool names(ban_kind kind, std::string_view value, std::uint64_t since) const;

    std::uint64_t lineage_ = 0, latest_ = 0, horizon_ = 0, last_erasure_ = 0;
    std::array<std::vector<by_value>, 6> named_{};  // by kind up to scope, sorted by value
    struct time_limit {
        unix_ms time;
        std::uint64_t at;
    };
    std::vector<time_limit> before_;
    std::uint64_t all_ = 0;
};

class bans {
public:
    bans() : table_(std::make_shared<const ban_table>()) {}
    void set(const state_record& now);
    [[nodiscard]] std::shared_ptr<const ban_table> table() const;
    /// Of table(), without a lock.
    [[nodiscard]] std::uint64_t latest() const noexcept { return latest_.load(std::memory_order_acquire); }

private:
    mutable std::mutex mutex_;
    std::shared_ptr<const ban_table> table_;
    std::atomic<std::uint64_t> latest_{0};
};

}  // namespace idem::cache
