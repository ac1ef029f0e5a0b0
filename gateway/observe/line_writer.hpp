#pragma once
// Writes blocks of lines to a file descriptor from a thread of its own, so that a reader who does not read (a full
// pipe) stalls nobody: what does not fit the queue is dropped and counted. A closed pipe is an error, not a signal.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace idem::gateway::observe {

class line_writer {
public:
    /// The descriptor stays the caller's and is not made non-blocking: others may share it.
    line_writer(int fd, std::size_t cap_bytes);
    /// Writes what is queued, waits at most a second.
    ~line_writer();
    line_writer(const line_writer&) = delete;
    line_writer& operator=(const line_writer&) = delete;

    /// Takes the block and leaves an empty buffer with capacity behind. Any thread.
    void take(std::string& block, std::uint64_t lines);
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

private:
    struct block {
        std::string text;
        std::uint64_t lines;
    };
    void run();
    [[nodiscard]] bool write_all(std::string_view text);

    const int fd_;
    const std::size_t cap_;
    std::size_t chunk_;
    std::atomic<std::uint64_t> dropped_{0};
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<block> queue_;         // under mutex_
    std::size_t queued_ = 0;          // bytes in queue_
    std::vector<std::string> spare_;  // empty buffers with capacity
    bool stopping_ = false;
    std::atomic<std::int64_t> give_up_ns_{0};  // steady clock; 0 while running
    std::thread thread_;
};

}  // namespace idem::gateway::observe
