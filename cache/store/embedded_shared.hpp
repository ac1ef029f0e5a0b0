#pragma once
// What the threads of the embedded store share: its condition, its counters and what was used lately. Outlives all of
// them.
#include <atomic>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "cache/store/store.hpp"

namespace idem::cache {

/// The store's condition, said aloud when it changes. Any thread; the two flags cost one load.
class embedded_condition {
public:
    explicit embedded_condition(std::function<void(std::string_view)> log) : log_(std::move(log)) {}

    [[nodiscard]] bool readable() const noexcept { return readable_.load(std::memory_order_acquire); }
    [[nodiscard]] bool writable() const noexcept { return writable_.load(std::memory_order_acquire); }
    [[nodiscard]] std::string text() const;

    void good();
    /// Reading goes on, writing does not.
    void no_writing(std::string_view why);
    /// Neither: on from memory.
    void no_use(std::string_view why);
    void say(std::string_view line);
    /// The log is not called any more, even by a thread that was left behind.
    void mute();

private:
    void change(bool readable, bool writable, std::string text);

    mutable std::mutex mutex_;
    std::function<void(std::string_view)> log_;
    std::string text_ = "opening";
    std::atomic<bool> readable_{false}, writable_{false};
};

/// Which rows were read lately: the second chance of eviction. Two generations of at most 32,768 rows each; lost with
/// the process, which costs a row its second chance and no more. Any thread.
class recent_use {
public:
    void note(std::int64_t seq);
    /// Whether the row was used; forgets it.
    [[nodiscard]] bool take(std::int64_t seq);

private:
    static constexpr std::size_t most = 32'768;
    std::mutex mutex_;
    boost::unordered_flat_set<std::int64_t> current_, previous_;
};

/// Relaxed figures.
struct embedded_counters {
    std::atomic<std::int64_t> entries{0};  // may dip below zero while an opened file is still being counted
    std::atomic<std::uint64_t> bytes{0}, evictions{0}, expired{0};
    std::atomic<std::uint64_t> stored{0}, lost{0}, refused{0}, failed_reads{0}, failed_writes{0}, timeouts{0};
};

}  // namespace idem::cache
