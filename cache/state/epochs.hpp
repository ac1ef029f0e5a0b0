#pragma once
// The current epoch of each upstream, as this process knows it. One writer (the keeper that reads them from the store),
// many readers; a reader compares one number and copies only when it changed. Unknown until first read: without an
// epoch there is no key, and requests pass uncached.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "upstream/base/digest.hpp"
#include "upstream/base/reason.hpp"

namespace idem::cache {

/// The named state of the world of one upstream in which one request has one answer.
struct epoch_record {
    id128 id;
    digest environment;
    bool by_hand = false;  // an operator went back to it: what it lacks is made in its environment, or not stored
    auto operator<=>(const epoch_record&) const = default;
};

class epochs {
public:
    explicit epochs(std::size_t upstreams) : records_(upstreams), troubles_(upstreams, reason::none) {}
    void set(std::size_t upstream, const epoch_record& record);
    [[nodiscard]] std::optional<epoch_record> get(std::size_t upstream) const;
    /// Why the store's record of the epoch could not be read when it was last asked for; none if it could be. The epoch
    /// that is known stays.
    void note(std::size_t upstream, reason trouble);
    [[nodiscard]] reason trouble(std::size_t upstream) const;
    /// Every upstream's epoch has been asked for at least once, with or without an answer.
    void mark_asked() noexcept { asked_.store(true, std::memory_order_release); }
    [[nodiscard]] bool asked() const noexcept { return asked_.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }

private:
    friend class epochs_view;
    mutable std::mutex mutex_;
    std::vector<std::optional<epoch_record>> records_;
    std::vector<reason> troubles_;
    std::atomic<std::uint64_t> generation_{1};
    std::atomic<bool> asked_{false};
};

/// One thread's copy. Its records are stable until the next refresh().
class epochs_view {
public:
    explicit epochs_view(const epochs& of) : of_(of) { refresh(); }
    /// Returns the generation of what the view now holds.
    std::uint64_t refresh();
    [[nodiscard]] const epoch_record* get(std::size_t upstream) const noexcept {
        return records_[upstream] ? &*records_[upstream] : nullptr;
    }

private:
    const epochs& of_;
    std::uint64_t seen_ = 0;
    std::vector<std::optional<epoch_record>> records_;
};

}  // namespace idem::cache
