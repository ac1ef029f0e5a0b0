#include "cache/store/breaker.hpp"

namespace idem::cache {
namespace {

std::int64_t nanoseconds(breaker::time_point t) noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
}

}  // namespace

bool breaker::allow(time_point now) noexcept {
    std::int64_t probe = next_probe_.load(std::memory_order_relaxed);
    if (probe == never) return true;
    const std::int64_t time = nanoseconds(now);
    if (time < probe) return false;
    // Of all callers that see the interval over, the one that moves the mark is the probe.
    if (!next_probe_.compare_exchange_strong(probe, time + options_.probe_every.count(), std::memory_order_relaxed))
        return probe == never;
    probing_.store(true, std::memory_order_relaxed);
    return true;
}

void breaker::success() noexcept {
    if (in_a_row_.load(std::memory_order_relaxed) != 0) in_a_row_.store(0, std::memory_order_relaxed);
    if (next_probe_.load(std::memory_order_relaxed) == never) return;
    probing_.store(false, std::memory_order_relaxed);
    next_probe_.store(never, std::memory_order_relaxed);
}

void breaker::failure(time_point now) noexcept {
    const std::uint32_t run = in_a_row_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (run >= options_.failures) trip(now);
    probing_.store(false, std::memory_order_relaxed);
}

void breaker::trip(time_point now) noexcept {
    std::int64_t closed = never;
    if (next_probe_.compare_exchange_strong(closed, nanoseconds(now) + options_.probe_every.count(),
                                            std::memory_order_relaxed))
        opened_.fetch_add(1, std::memory_order_relaxed);
    probing_.store(false, std::memory_order_relaxed);
}

breaker::state breaker::current() const noexcept {
    if (next_probe_.load(std::memory_order_relaxed) == never) return state::closed;
    return probing_.load(std::memory_order_relaxed) ? state::half_open : state::open;
}

std::string_view to_string(breaker::state s) noexcept {
    switch (s) {
        case breaker::state::closed:
            return "closed";
        case breaker::state::open:
            return "open";
        case breaker::state::half_open:
            return "half-open";
    }
    return "closed";
}

}  // namespace idem::cache
