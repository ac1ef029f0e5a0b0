#include "upstream/route/retry.hpp"

#include <algorithm>

namespace idem::upstream::route {

bool may_repeat(const attempt& failed) noexcept {
    if (failed.answered) return false;
    switch (failed.why) {
        case reason::upstream_connect:
            return true;
        case reason::upstream_timeout:
            return !failed.sent;
        case reason::upstream_reset:
            return !failed.sent || failed.repeatable;
        default:
            return false;
    }
}

retry_budget::retry_budget(retry_limits limits) noexcept
    : share_(static_cast<std::int64_t>(std::clamp(limits.share, 0.0, 1.0) * one)),
      most_(one * limits.burst),
      level_(most_) {}

void retry_budget::on_request() noexcept {
    // A full bucket is only read: the healthy path shares no written cache line.
    std::int64_t now = level_.load(std::memory_order_relaxed);
    while (now < most_ &&
           !level_.compare_exchange_weak(now, std::min(now + share_, most_), std::memory_order_relaxed)) {
    }
}

bool retry_budget::take() noexcept {
    std::int64_t now = level_.load(std::memory_order_relaxed);
    while (now >= one) {
        if (level_.compare_exchange_weak(now, now - one, std::memory_order_relaxed)) return true;
    }
    return false;
}

}  // namespace idem::upstream::route
