#pragma once
// How many bytes of request bodies this process holds for their keys at once. A body that would go beyond is streamed
// through uncached, so that many large uploads together cost no more than the budget.
#include <atomic>
#include <cstdint>

namespace idem::gateway::pipeline {

/// Any thread.
class body_budget {
public:
    explicit body_budget(std::uint64_t bytes) : capacity_(bytes) {}

    /// One request's part, given back at its end. One thread.
    class share {
    public:
        explicit share(body_budget& of) : of_(of) {}
        ~share() { of_.used_.fetch_sub(held_, std::memory_order_relaxed); }
        share(const share&) = delete;
        share& operator=(const share&) = delete;
        /// False if the budget does not have so much; then nothing was taken.
        [[nodiscard]] bool grow(std::uint64_t bytes) noexcept {
            if (of_.used_.fetch_add(bytes, std::memory_order_relaxed) + bytes > of_.capacity_) {
                of_.used_.fetch_sub(bytes, std::memory_order_relaxed);
                return false;
            }
            held_ += bytes;
            return true;
        }

    private:
        body_budget& of_;
        std::uint64_t held_ = 0;
    };
    [[nodiscard]] std::uint64_t used() const noexcept { return used_.load(std::memory_order_relaxed); }

private:
    friend class share;
    const std::uint64_t capacity_;
    std::atomic<std::uint64_t> used_{0};
};

}  // namespace idem::gateway::pipeline
