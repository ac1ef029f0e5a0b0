#pragma once
// Circuit breaker (Nygard, "Release It!"): after a run of failures nobody waits for a sick store any more, and one call
// a second looks whether it has come back. Sans-I/O: time is an argument. Any thread; a call through a closed breaker
// costs one relaxed load.
//
//   closed     every call goes; `failures` failures in a row, or one trip(), open it
//   open       no call goes until `probe_every` has passed
//   half_open  one probe is out; its success closes, anything else leaves the next probe to the next interval
//
// A probe that never reports (its caller was cancelled) costs one interval, no more. Any success closes: the caller
// reports an answer that came too late as a failure.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

namespace idem::cache {

struct breaker_options {
    std::uint32_t failures = 5;
    std::chrono::nanoseconds probe_every = std::chrono::seconds(1);
};

class breaker {
public:
    using time_point = std::chrono::steady_clock::time_point;
    enum class state : std::uint8_t { closed, open, half_open };

    explicit breaker(breaker_options options = {}) noexcept : options_(options) {}

    /// Whether a call may go. In the open states at most one call an interval gets true: it is the probe.
    [[nodiscard]] bool allow(time_point now) noexcept;
    void success() noexcept;
    void failure(time_point now) noexcept;
    /// Opens at once: the failure is known to last (disk full, wrong password).
    void trip(time_point now) noexcept;

    [[nodiscard]] state current() const noexcept;
    /// How often it has opened since it was made.
    [[nodiscard]] std::uint64_t opened() const noexcept { return opened_.load(std::memory_order_relaxed); }

private:
    static constexpr std::int64_t never = INT64_MIN;

    const breaker_options options_;
    std::atomic<std::int64_t> next_probe_{never};  // steady-clock nanoseconds; `never` means closed
    std::atomic<std::uint32_t> in_a_row_{0};
    std::atomic<bool> probing_{false};  // only for current()
    std::atomic<std::uint64_t> opened_{0};
};

/// "closed", "open", "half-open".
[[nodiscard]] std::string_view to_string(breaker::state s) noexcept;

}  // namespace idem::cache
