#include "upstream/determinism/shadow_budget.hpp"

#include <algorithm>

namespace idem::upstream::determinism {

bool shadow_budget::take(std::int64_t now, std::uint32_t per_minute) noexcept {
    if (per_minute == 0) return false;
    constexpr std::int64_t minute = 60'000'000;
    const std::int64_t now_us = now * 1000, each = std::max<std::int64_t>(1, minute / per_minute);
    const std::int64_t ahead = minute / 10;  // the burst: a tenth of what a minute brings, and one at least
    std::int64_t paid = paid_until_us_.load(std::memory_order_relaxed);
    for (;;) {
        const std::int64_t from = std::max(paid, now_us);
        if (from > now_us && from + each > now_us + ahead) return false;
        if (paid_until_us_.compare_exchange_weak(paid, from + each, std::memory_order_relaxed)) return true;
    }
}

}  // namespace idem::upstream::determinism
