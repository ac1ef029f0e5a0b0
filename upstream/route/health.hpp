#pragma once
// Passive health of the replicas of one upstream: what real requests met decides, no probe. A replica that fails
// several times in a row is ejected for a while; each time it comes back and fails at once the while doubles. One that
// says itself when to come back (Retry-After) is ejected until then. Never more than a share of the replicas is
// ejected: if most fail, the fault is more likely ours or everybody's, and a try is better than none (the panic rule of
// Envoy's outlier detection).
//
// `health` is the core: no clock, no lock. `shared_health` is the same for several threads.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "upstream/route/pin.hpp"

namespace idem::upstream::route {

using time_point = std::chrono::steady_clock::time_point;
using duration = std::chrono::steady_clock::duration;

/// What one request learned about its replica.
enum class experience : std::uint8_t {
    success,         // any answer below 500
    server_error,    // 5xx
    no_answer,       // lost before the head was complete
    timed_out,       // past a deadline: ejects at once, since each such call costs its caller the whole deadline
    cannot_connect,  // refused, unresolvable, TLS failed
};

struct health_limits {
    unsigned connect_failures = 3;  // in a row, to eject
    unsigned failures = 5;          // of any kind in a row, to eject
    duration first_ejection = std::chrono::seconds(2);
    duration longest_ejection = std::chrono::minutes(2);
    double most_ejected = 0.5;  // share of the replicas, rounded down
};

class health {
public:
    health(std::size_t replicas, health_limits limits);
    void report(std::size_t replica, experience what, time_point now);
    /// The replica asked to be left alone for that long. It is ejected, as far as others are left, and no longer than
    /// after its own failures.
    void rest(std::size_t replica, duration length, time_point now);
    /// False while the replica is ejected.
    [[nodiscard]] bool available(std::size_t replica, time_point now) const noexcept;
    [[nodiscard]] std::size_t ejected(time_point now) const noexcept;
    /// True if a success would change nothing.
    [[nodiscard]] bool spotless(std::size_t replica) const noexcept;

private:
    struct record {
        unsigned connect_failures = 0;  // in a row
        unsigned failures = 0;          // in a row
        unsigned ejections = 0;         // in a row: the next one lasts first_ejection * 2^ejections
        time_point until{};             // ejected until then
    };
    void eject(record& r, time_point now);

    health_limits limits_;
    std::size_t most_;
    std::vector<record> records_;
};

/// Any thread. While all is well neither report() nor mark() takes the lock.
class shared_health {
public:
    explicit shared_health(std::size_t replicas, health_limits limits = {});
    void report(std::size_t replica, experience what, time_point now);
    void rest(std::size_t replica, duration length, time_point now);
    /// Makes the ejected replicas unwanted; `classes` stays empty if it is and there may be none.
    void mark(std::vector<replica_class>& classes, time_point now) const;
    [[nodiscard]] bool available(std::size_t replica, time_point now) const;
    [[nodiscard]] std::size_t ejected(time_point now) const;

private:
    /// After a change of the replica's record.
    void remember(std::size_t replica);

    mutable std::mutex guard_;
    health core_;
    std::vector<std::atomic<bool>> blemished_;  // per replica: not spotless
    std::atomic<bool> any_blemished_ = false;
};

}  // namespace idem::upstream::route
