#pragma once
// What a whole process knows about the health of its Redis: the breaker, the pause for writes, one counter a fault, and
// log lines of each kind at most once in ten seconds. Any thread, no locks on the good path; time is an argument.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "cache/redis/fault.hpp"
#include "cache/store/breaker.hpp"
#include "cache/store/outage_watch.hpp"

namespace idem::cache::redis {

class monitor {
public:
    using time_point = std::chrono::steady_clock::time_point;
    /// Called from any thread with one line, without a newline; may be empty.
    using log_sink = std::function<void(std::string_view line)>;

    /// `where` names Redis in log lines and holds no password.
    monitor(std::string where, log_sink log);

    /// Whether requests may use Redis. While false, only connection attempts look whether it is back.
    [[nodiscard]] bool serving() const noexcept { return breaker_.current() == breaker::state::closed; }
    /// Whether a connection may be tried now: always while serving, else once a second in the whole process.
    [[nodiscard]] bool may_connect(time_point now) noexcept { return breaker_.allow(now); }
    /// Whether values may be sent. After a refusal they are not, for a second.
    [[nodiscard]] bool writable(time_point now) const noexcept;

    /// Counts a fault and says it in the log, with `detail` where there is one; a refused write also begins the pause
    /// for writes.
    void note(fault why, time_point now, std::string_view detail = {}) noexcept;
    /// Redis could not serve: one connection ended or could not be made, however many commands it took along.
    void outage(fault why, time_point now) noexcept;
    /// A connection completed its handshake: that ends an outage, on probation until a command is answered.
    void connected(time_point now) noexcept;
    /// A command was answered.
    void answered() noexcept;
    /// A value was stored.
    void stored(time_point now) noexcept;

    [[nodiscard]] const outage_watch& outages() const noexcept { return outages_; }
    /// One log line about this Redis.
    void say(std::string_view text) const noexcept;

    [[nodiscard]] std::uint64_t count(fault f) const noexcept {
        return counters_[static_cast<std::size_t>(f)].load(std::memory_order_relaxed);
    }
    /// "ok", "breaker open: timeout", "read-only: oom".
    [[nodiscard]] std::string state() const;

private:
    /// Lets a kind of line through once in ten seconds.
    class limiter {
    public:
        [[nodiscard]] bool pass(time_point now) noexcept;

    private:
        std::atomic<std::int64_t> quiet_until_{INT64_MIN};
    };

    static constexpr auto count_of_faults = static_cast<std::size_t>(fault::count_);
    const std::string where_;
    const log_sink log_;
    breaker breaker_;
    std::atomic<std::int64_t> writes_resume_{0};  // steady-clock nanoseconds
    std::atomic<fault> write_fault_{fault::none};
    std::atomic<fault> last_outage_{fault::none};
    std::atomic<bool> probation_{false};
    outage_watch outages_;
    std::array<std::atomic<std::uint64_t>, count_of_faults> counters_{};
    std::array<limiter, count_of_faults> lines_;
    limiter opened_line_, closed_line_, stored_line_;
};

}  // namespace idem::cache::redis
