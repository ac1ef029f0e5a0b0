#pragma once
// How often answered requests of one upstream are run again at most, in time: an even pace with room for a small burst.
// Any thread; a refusal costs one relaxed load. No clock.
#include <atomic>
#include <cstdint>

namespace idem::upstream::determinism {

class shadow_budget {
public:
    /// Takes one run where there is room at `now` (milliseconds of any steady clock) for one who may have `per_minute`.
    [[nodiscard]] bool take(std::int64_t now, std::uint32_t per_minute) noexcept;

private:
    // When the runs that were taken so far would have been paid for (the generic cell rate algorithm, ITU-T I.371).
    std::atomic<std::int64_t> paid_until_us_{0};
};

/// A cheap source of chance for one thread: whether a request is among the sampled. xorshift64* (Vigna, 2016); nothing
/// hangs on it that somebody could want to guess.
class shadow_dice {
public:
    explicit shadow_dice(std::uint64_t seed) noexcept : state_(seed | 1) {}
    /// True with `millionths` in a million.
    [[nodiscard]] bool hit(std::uint32_t millionths) noexcept {
        if (millionths == 0) return false;
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return ((state_ * 0x2545F4914F6CDD1Dull) >> 32) % 1'000'000 < millionths;
    }

private:
    std::uint64_t state_;
};

}  // namespace idem::upstream::determinism
