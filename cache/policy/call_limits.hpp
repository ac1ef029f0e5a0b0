#pragma once
// How much of the upstreams one caller, and all callers together, may use: calls under way, and calls a minute. What is
// answered from the store, and who joins a call that is under way, uses nothing. The core: no clock, no lock.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

#include "upstream/base/digest.hpp"
#include "upstream/base/reason.hpp"

namespace idem::cache {

struct call_limit_rules {
    std::uint32_t calls = 0;         // under way, of all callers; 0 anywhere: no limit
    std::uint32_t caller_calls = 0;  // under way, of one caller
    std::uint32_t per_minute = 0;    // calls that one caller may begin
    std::uint32_t burst = 0;         // of these at once; 0: a minute's
    [[nodiscard]] bool any() const noexcept { return calls != 0 || caller_calls != 0 || per_minute != 0; }
};

class call_limits {
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// `most` bounds the callers whose rate is remembered: beyond it the one that has not called for longest is
    /// forgotten, whose burst is then whole again.
    explicit call_limits(call_limit_rules rules, std::size_t most = 65'536) noexcept : rules_(rules), most_(most) {}

    call_limits(const call_limits&) = delete;  // places in lists are its own
    call_limits& operator=(const call_limits&) = delete;

    struct verdict {
        reason why = reason::none;      // none: the call may begin; overloaded, too_many_calls, rate_limited
        std::uint32_t retry_after = 1;  // seconds, where it may not
    };
    [[nodiscard]] verdict begin(const digest& caller, time_point now);
    /// A call that had begun is over.
    void end(const digest& caller) noexcept;

    [[nodiscard]] std::size_t under_way() const noexcept { return under_way_; }
    [[nodiscard]] std::size_t callers() const noexcept { return buckets_.size() + by_caller_.size(); }

private:
    // Digests spread by themselves.
    struct first_bytes {
        std::size_t operator()(const digest& d) const noexcept;
    };
    struct bucket {
        double tokens;
        time_point at;
        std::list<digest>::iterator place;  // in last_used_
    };
    [[nodiscard]] bucket& bucket_of(const digest& caller, time_point now);
    [[nodiscard]] double burst() const noexcept;

    const call_limit_rules rules_;
    const std::size_t most_;
    std::size_t under_way_ = 0;
    std::unordered_map<digest, std::uint32_t, first_bytes> by_caller_;  // no more than calls under way
    std::unordered_map<digest, bucket, first_bytes> buckets_;
    std::list<digest> last_used_;  // longest ago first
};

}  // namespace idem::cache
