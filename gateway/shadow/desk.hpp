#pragma once
// Where the threads that answer requests leave some of them to be run again: one bounded queue an upstream, in memory
// only. Any thread; who offers never waits. The runner looks from time to time and takes them away: to wake its thread
// for each would cost a hit more than all the rest (a hundred microseconds where the other core sleeps).
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "gateway/shadow/job.hpp"
#include "upstream/determinism/shadow_budget.hpp"

namespace idem::gateway::shadow {

class desk {
public:
    static constexpr std::size_t most_jobs = 64;                      // of one upstream
    static constexpr std::size_t most_bytes = std::size_t{16} << 20;  // of their request bodies and answers

    explicit desk(std::size_t upstreams);
    /// Whether one more run of that upstream is within its budget, which is taken, and the queue is not full, which is
    /// counted as a drop: nobody need make a job for nothing. `now`: milliseconds of a steady clock.
    [[nodiscard]] bool affords(std::size_t upstream, std::uint32_t per_minute, std::int64_t now) noexcept;
    /// Where the queue is full the job is dropped and counted.
    void offer(job j);
    [[nodiscard]] std::optional<job> take(std::size_t upstream);
    /// Drops what was taken before `t`, and counts it: nobody's credential is kept longer.
    void forget(std::size_t upstream, upstream::net::time_point t);
    /// Jobs dropped since the last call.
    [[nodiscard]] std::uint64_t dropped(std::size_t upstream) noexcept {
        return queues_[upstream]->dropped.exchange(0, std::memory_order_relaxed);
    }
    /// Nothing is taken any more, and what waits is forgotten.
    void close();

private:
    struct queue {
        upstream::determinism::shadow_budget budget;
        std::mutex mutex;
        std::deque<job> jobs;
        std::size_t bytes = 0;
        bool closed = false;
        std::atomic<bool> full{false};  // the last job did not fit, or no further one will
        std::atomic<std::uint64_t> dropped{0};
    };
    static job pop(queue& q);

    std::vector<std::unique_ptr<queue>> queues_;
};

}  // namespace idem::gateway::shadow
