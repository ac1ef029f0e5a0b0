#pragma once
// A queue from many threads to worker threads, bounded in bytes and in number. Never blocks the side that pushes.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace idem::cache {

template <class Job>
class job_queue {
public:
    using clock = std::chrono::steady_clock;
    using time_point = clock::time_point;

    job_queue(std::size_t most_bytes, std::size_t most_jobs) : most_bytes_(most_bytes), most_jobs_(most_jobs) {}

    /// False where it is full or closed; the job is then untouched.
    [[nodiscard]] bool push(Job&& job, std::size_t bytes) {
        {
            const std::lock_guard lock(mutex_);
            // One job larger than the bound may go alone.
            const bool full = !jobs_.empty() && (bytes > most_bytes_ - std::min(bytes_, most_bytes_));
            if (closed_ || full || jobs_.size() >= most_jobs_) return false;
            jobs_.push_back({std::move(job), bytes});
            bytes_ += bytes;
            if (sleeping_ == 0 && bytes_ < urgent_) return true;
        }
        filled_.notify_one();
        return true;
    }

    /// Waits until there is work, the queue is closed or `until`; then takes jobs in order, up to `most` of together
    /// about `bytes` bytes. Leaves jobs to gather until `rest`, unless that many bytes are there before.
    [[nodiscard]] std::vector<Job> take(std::size_t most, std::size_t bytes, time_point until, time_point rest = {}) {
        std::vector<Job> taken;
        std::unique_lock lock(mutex_);
        if (rest > clock::now()) {
            urgent_ = bytes;
            filled_.wait_until(lock, rest, [&] { return closed_ || bytes_ >= bytes; });
            urgent_ = SIZE_MAX;
        }
        while (jobs_.empty() && !closed_) {
            ++sleeping_;
            const auto status = filled_.wait_until(lock, until);
            --sleeping_;
            if (status == std::cv_status::timeout) break;
        }
        for (std::size_t sum = 0; !jobs_.empty() && taken.size() < most && sum < bytes;) {
            sum += jobs_.front().bytes;
            bytes_ -= jobs_.front().bytes;
            taken.push_back(std::move(jobs_.front().job));
            jobs_.pop_front();
        }
        return taken;
    }

    /// No more is accepted; what is queued is still handed out.
    void close() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
        }
        filled_.notify_all();
    }
    /// Closed and empty: a worker may end.
    [[nodiscard]] bool drained() const {
        const std::lock_guard lock(mutex_);
        return closed_ && jobs_.empty();
    }

private:
    struct waiting {
        Job job;
        std::size_t bytes;
    };

    const std::size_t most_bytes_, most_jobs_;
    mutable std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<waiting> jobs_;
    std::size_t bytes_ = 0;
    unsigned sleeping_ = 0;          // threads to wake when work comes
    std::size_t urgent_ = SIZE_MAX;  // bytes at which a resting thread is woken
    bool closed_ = false;
};

}  // namespace idem::cache
