#include "upstream/route/health.hpp"

#include <algorithm>

namespace idem::upstream::route {

health::health(std::size_t replicas, health_limits limits)
    : limits_(limits),
      most_(static_cast<std::size_t>(static_cast<double>(replicas) * std::clamp(limits.most_ejected, 0.0, 1.0))),
      records_(replicas) {}

void health::report(std::size_t replica, experience what, time_point now) {
    record& r = records_[replica];
    if (what == experience::success) {
        // A success that was under way when the replica was ejected says nothing about now.
        if (now >= r.until) r = {};
        return;
    }
    if (now < r.until) return;
    ++r.failures;
    r.connect_failures = what == experience::cannot_connect ? r.connect_failures + 1 : 0;
    // After an ejection the first failure is enough: the replica is on probation.
    const bool enough = what == experience::timed_out || r.ejections > 0 || r.failures >= limits_.failures ||
                        r.connect_failures >= limits_.connect_failures;
    if (enough && ejected(now) < most_) eject(r, now);
}

void health::rest(std::size_t replica, duration length, time_point now) {
    record& r = records_[replica];
    if (now >= r.until && ejected(now) >= most_) return;
    r.until = std::max(r.until, now + std::min(length, limits_.longest_ejection));
}

void health::eject(record& r, time_point now) {
    duration length = limits_.first_ejection;
    for (unsigned i = 0; i < r.ejections && length < limits_.longest_ejection; ++i) length *= 2;
    ++r.ejections;
    r.until = now + std::min(length, limits_.longest_ejection);
    r.failures = r.connect_failures = 0;
}

bool health::available(std::size_t replica, time_point now) const noexcept {
    return now >= records_[replica].until;
}

std::size_t health::ejected(time_point now) const noexcept {
    return static_cast<std::size_t>(
        std::count_if(records_.begin(), records_.end(), [&](const record& r) { return now < r.until; }));
}

bool health::spotless(std::size_t replica) const noexcept {
    const record& r = records_[replica];
    return r.failures == 0 && r.ejections == 0 && r.until == time_point{};
}

shared_health::shared_health(std::size_t replicas, health_limits limits)
    : core_(replicas, limits), blemished_(replicas) {}

void shared_health::report(std::size_t replica, experience what, time_point now) {
    if (what == experience::success && !blemished_[replica].load(std::memory_order_relaxed)) return;
    const std::lock_guard lock(guard_);
    core_.report(replica, what, now);
    remember(replica);
}

void shared_health::rest(std::size_t replica, duration length, time_point now) {
    const std::lock_guard lock(guard_);
    core_.rest(replica, length, now);
    remember(replica);
}

void shared_health::remember(std::size_t replica) {
    blemished_[replica].store(!core_.spotless(replica), std::memory_order_relaxed);
    bool any = false;
    for (std::size_t i = 0; i < blemished_.size(); ++i) any = any || !core_.spotless(i);
    any_blemished_.store(any, std::memory_order_relaxed);
}

void shared_health::mark(std::vector<replica_class>& classes, time_point now) const {
    if (!any_blemished_.load(std::memory_order_relaxed)) return;
    classes.resize(blemished_.size());
    const std::lock_guard lock(guard_);
    for (std::size_t i = 0; i < classes.size(); ++i) {
        if (!core_.available(i, now)) classes[i] = unwanted;
    }
}

bool shared_health::available(std::size_t replica, time_point now) const {
    const std::lock_guard lock(guard_);
    return core_.available(replica, now);
}

std::size_t shared_health::ejected(time_point now) const {
    const std::lock_guard lock(guard_);
    return core_.ejected(now);
}

}  // namespace idem::upstream::route
