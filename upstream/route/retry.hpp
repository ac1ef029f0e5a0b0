#pragma once
// When a failed attempt may be made again. Two rules: never after a response byte, and never more than a share of the
// traffic, so that a struggling upstream is not killed by our own retries (Site Reliability Engineering, chapter 21).
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "upstream/base/reason.hpp"

namespace idem::upstream::route {

/// What is known about an attempt that failed.
struct attempt {
    reason why = reason::none;
    bool sent = false;        // request bytes were written
    bool answered = false;    // response bytes arrived
    bool repeatable = false;  // running the request twice does no harm: a cacheable call, or a safe method
    bool lost = false;        // the replica answers nothing any more, not even who asks whether it lives
};

/// Pure. A request that was not sent may always be sent elsewhere. One that was sent and lost may be repeated if that
/// is harmless (RFC 9110 section 9.2.2); not after a deadline, since the replica may still be computing, unless it is
/// lost.
[[nodiscard]] bool may_repeat(const attempt& failed) noexcept;

/// Pure. A 502 or 503 says that this replica did not do the work; another one may, if asking twice is harmless. A 504
/// says what our own deadlines say: somebody may still be computing. A 429 is about who asks, whichever replica
/// answers.
[[nodiscard]] bool may_ask_another(unsigned status, bool repeatable) noexcept;

/// For how long a 503 says to stay away: the value of Retry-After (RFC 9110 section 10.2.3), seconds or a date. Nothing
/// if it is neither, or past. `now` is in seconds since 1970.
[[nodiscard]] std::optional<std::chrono::seconds> retry_after(std::string_view field, std::int64_t now) noexcept;

struct retry_limits {
    double share = 0.2;   // retries per request
    unsigned burst = 10;  // saved up at most, and at start
};

/// Token bucket that is filled by requests instead of time. Any thread; no lock.
class retry_budget {
public:
    explicit retry_budget(retry_limits limits = {}) noexcept;
    void on_request() noexcept;
    /// Takes one retry; false if there is none left.
    [[nodiscard]] bool take() noexcept;

private:
    static constexpr std::int64_t one = 1000;  // thousandths of a retry
    std::int64_t share_;
    std::int64_t most_;
    std::atomic<std::int64_t> level_;
};

}  // namespace idem::upstream::route
