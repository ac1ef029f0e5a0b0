#include "cache/policy/call_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace idem::cache {

std::size_t call_limits::first_bytes::operator()(const digest& d) const noexcept {
    std::size_t n;
    std::memcpy(&n, d.bytes.data(), sizeof n);
    return n;
}

double call_limits::burst() const noexcept {
    return rules_.burst == 0 ? rules_.per_minute : rules_.burst;
}

call_limits::bucket& call_limits::bucket_of(const digest& caller, time_point now) {
    const auto [at, fresh] = buckets_.try_emplace(caller, bucket{burst(), now, {}});
    bucket& b = at->second;
    if (fresh) {
        b.place = last_used_.insert(last_used_.end(), caller);
        if (buckets_.size() > most_) {
            buckets_.erase(last_used_.front());
            last_used_.pop_front();
        }
        return b;
    }
    last_used_.splice(last_used_.end(), last_used_, b.place);
    const double seconds = std::max(0.0, std::chrono::duration<double>(now - b.at).count());
    b.tokens = std::min(burst(), b.tokens + seconds * rules_.per_minute / 60);
    b.at = std::max(b.at, now);
    return b;
}

call_limits::verdict call_limits::begin(const digest& caller, time_point now) {
    if (rules_.calls != 0 && under_way_ >= rules_.calls) return {reason::overloaded, 1};
    std::uint32_t mine = 0;
    if (rules_.caller_calls != 0) {
        const auto at = by_caller_.find(caller);
        mine = at == by_caller_.end() ? 0 : at->second;
        if (mine >= rules_.caller_calls) return {reason::too_many_calls, 1};
    }
    if (rules_.per_minute != 0) {
        bucket& b = bucket_of(caller, now);
        if (b.tokens < 1) {
            const double seconds = (1 - b.tokens) * 60 / rules_.per_minute;
            return {reason::rate_limited, static_cast<std::uint32_t>(std::clamp(std::ceil(seconds), 1.0, 3600.0))};
        }
        b.tokens -= 1;
    }
    if (rules_.caller_calls != 0) by_caller_[caller] = mine + 1;
    ++under_way_;
    return {};
}

void call_limits::end(const digest& caller) noexcept {
    --under_way_;
    const auto at = by_caller_.find(caller);
    if (at != by_caller_.end() && --at->second == 0) by_caller_.erase(at);
}

}  // namespace idem::cache
