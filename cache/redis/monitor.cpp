#include "cache/redis/monitor.hpp"

#include <utility>

namespace idem::cache::redis {
namespace {

using namespace std::chrono_literals;

// Few, because a hung Redis costs each of them its whole deadline.
constexpr std::uint32_t failures_in_a_row = 3;
constexpr std::chrono::nanoseconds probe_every = 1s;
constexpr std::chrono::nanoseconds write_pause = 1s;
constexpr std::chrono::nanoseconds log_pause = 10s;

[[nodiscard]] std::int64_t nanoseconds(monitor::time_point t) noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
}

}  // namespace

monitor::monitor(std::string where, log_sink log)
    : where_(std::move(where)),
      log_(std::move(log)),
      breaker_({.failures = failures_in_a_row, .probe_every = probe_every}) {}

bool monitor::limiter::pass(time_point now) noexcept {
    std::int64_t quiet = quiet_until_.load(std::memory_order_relaxed);
    return nanoseconds(now) >= quiet &&
           quiet_until_.compare_exchange_strong(quiet, nanoseconds(now + log_pause), std::memory_order_relaxed);
}

bool monitor::writable(time_point now) const noexcept {
    return nanoseconds(now) >= writes_resume_.load(std::memory_order_relaxed);
}

// A middleman may answer PING itself, and a hung server behind it would pass for healthy at every handshake: so the
// first outage on probation opens the breaker again at once.
void monitor::connected(time_point now) noexcept {
    if (serving()) {
        return;
    }
    probation_.store(true, std::memory_order_relaxed);
    breaker_.success();
    outages_.away.store(false, std::memory_order_relaxed);
    if (closed_line_.pass(now)) {
        say("serves again");
    }
}

void monitor::answered() noexcept {
    breaker_.success();
    if (probation_.load(std::memory_order_relaxed)) {
        probation_.store(false, std::memory_order_relaxed);
    }
}

void monitor::outage(fault why, time_point now) noexcept {
    last_outage_.store(why, std::memory_order_relaxed);
    const bool was_serving = serving();
    // A refused password will not heal by asking again soon.
    if (why == fault::noauth || why == fault::wrongpass || probation_.load(std::memory_order_relaxed)) {
        breaker_.trip(now);
    } else {
        breaker_.failure(now);
    }
    outages_.count.fetch_add(1, std::memory_order_acq_rel);
    outages_.away.store(!serving(), std::memory_order_relaxed);
    if (was_serving && !serving() && opened_line_.pass(now)) {
        say("breaker open: requests go on without the store; asking once a second");
    }
}

void monitor::stored(time_point now) noexcept {
    if (write_fault_.load(std::memory_order_relaxed) == fault::none) {
        return;
    }
    write_fault_.store(fault::none, std::memory_order_relaxed);
    if (stored_line_.pass(now)) {
        say("stores again");
    }
}

void monitor::note(fault why, time_point now, std::string_view detail) noexcept {
    const auto i = static_cast<std::size_t>(why);
    counters_[i].fetch_add(1, std::memory_order_relaxed);
    if (refuses_writes(why)) {
        write_fault_.store(why, std::memory_order_relaxed);
        writes_resume_.store(nanoseconds(now + write_pause), std::memory_order_relaxed);
    }
    if (why == fault::noscript || why == fault::not_connected || why == fault::shut_down) {
        return;  // part of normal life, counted only
    }
    if (!lines_[i].pass(now)) {
        return;
    }
    try {
        std::string line(to_string(why));
        line.append(": ").append(explain(why));
        if (!detail.empty()) {
            line.append(" (").append(detail).append(")");
        }
        say(line);
    } catch (...) {  // no memory for a log line
    }
}

void monitor::say(std::string_view text) const noexcept {
    if (!log_) {
        return;
    }
    try {
        log_("redis " + where_ + ": " + std::string(text));
    } catch (...) {  // a log that fails must not fail a request
    }
}

std::string monitor::state() const {
    if (!serving()) {
        return "breaker open: " + std::string(to_string(last_outage_.load(std::memory_order_relaxed)));
    }
    const fault w = write_fault_.load(std::memory_order_relaxed);
    return w == fault::none ? "ok" : "read-only: " + std::string(to_string(w));
}

}  // namespace idem::cache::redis
