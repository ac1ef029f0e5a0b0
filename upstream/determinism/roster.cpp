#include "upstream/determinism/roster.hpp"

#include <algorithm>
#include <iterator>

namespace idem::upstream::determinism {

roster::roster(std::size_t replicas, bool watched)
    : watched_(watched),
      size_(replicas),
      conditions_(replicas, watched ? condition{} : unwatched_condition()),
      standings_(std::make_shared<const std::vector<standing>>(
          replicas,
          standing{conditions_.empty() ? replica_state::probing : conditions_.front().state, unwatched_environment()})),
      transitions_(replicas),
      looked_(replicas),
      told_(replicas) {}

// With the lock held, after a condition became another one.
void roster::changed(std::size_t replica) {
    const condition& c = conditions_[replica];
    const standing& was = (*standings_)[replica];
    if (was.state == c.state && was.environment == c.environment) return;
    if (was.state != c.state)
        transitions_[replica][static_cast<std::size_t>(c.state)].fetch_add(1, std::memory_order_relaxed);
    auto next = std::make_shared<std::vector<standing>>(*standings_);
    (*next)[replica].state = c.state;
    (*next)[replica].environment = c.environment;
    standings_ = std::move(next);
}

std::shared_ptr<const std::vector<standing>> roster::standings() const {
    const std::lock_guard lock(mutex_);
    return standings_;
}

std::uint64_t roster::transitions(std::size_t replica, replica_state into) const noexcept {
    return transitions_[replica][static_cast<std::size_t>(into)].load(std::memory_order_relaxed);
}

void roster::set(std::size_t replica, condition c) {
    const std::lock_guard lock(mutex_);
    conditions_[replica] = std::move(c);
    changed(replica);
}

condition roster::get(std::size_t replica) const {
    const std::lock_guard lock(mutex_);
    return conditions_[replica];
}

std::vector<condition> roster::all() const {
    const std::lock_guard lock(mutex_);
    return conditions_;
}

void roster::suspect(std::size_t replica) {
    if (!watched_) return;
    {
        const std::lock_guard lock(mutex_);
        condition& c = conditions_[replica];
        if (c.state != replica_state::admitted) return;  // it is being looked at already, or out
        c.state = replica_state::probing;
        c.why = cause::suspect;
        changed(replica);
    }
    if (tell_) tell_(replica);
}

namespace {

/// A replica is looked at again for the sake of the same call, and at most, after so long.
constexpr net::duration patient = std::chrono::seconds(1);
constexpr net::duration most_often = std::chrono::milliseconds(250);

}  // namespace

void roster::doubt(std::size_t replica, net::time_point since, net::time_point now) {
    if (!watched_ || !doubted_) return;
    const net::time_point looked{net::duration(looked_[replica].load(std::memory_order_relaxed))};
    if (now - looked < (looked > since ? patient : most_often)) return;
    if (!told_[replica].exchange(true, std::memory_order_relaxed)) doubted_(replica);
}

void roster::looked(std::size_t replica, net::time_point now) noexcept {
    looked_[replica].store(now.time_since_epoch().count(), std::memory_order_relaxed);
    told_[replica].store(false, std::memory_order_relaxed);
}

void roster::hear(std::size_t replica, bool answers) {
    const std::lock_guard lock(mutex_);
    if ((*standings_)[replica].silent == !answers) return;
    auto next = std::make_shared<std::vector<standing>>(*standings_);
    (*next)[replica].silent = !answers;
    standings_ = std::move(next);
}

namespace {

bool meets(const standing& s, demand wants, const digest& environment) noexcept {
    return s.state == replica_state::admitted && (wants == demand::any || s.environment == environment);
}

route::replica_class class_of(const standing& s, demand wants, const digest& environment) noexcept {
    if (wants == demand::admitted) {
        if (!meets(s, wants, environment)) return route::unwanted;
        return s.silent ? 1 : 0;
    }
    switch (s.state) {
        case replica_state::admitted:
            return s.silent ? 1 : 0;
        case replica_state::probing:
            return 1;
        case replica_state::quarantined:
            return 2;
        case replica_state::down:
            return 3;
        case replica_state::draining:  // takes no new request
            break;
    }
    return route::unwanted;
}

}  // namespace

bool lost(std::size_t replica, std::span<const standing> of, demand wants, const digest& environment) noexcept {
    if (of[replica].state == replica_state::down) return true;
    if (!of[replica].silent) return false;
    return std::ranges::any_of(of, [&](const standing& s) { return !s.silent && meets(s, wants, environment); });
}

void classify(std::vector<route::replica_class>& classes, std::span<const standing> of, demand wants,
              const digest& environment) {
    classes.resize(of.size());
    for (std::size_t i = 0; i < of.size(); ++i) {
        if (classes[i] != route::unwanted) classes[i] = class_of(of[i], wants, environment);
    }
}

}  // namespace idem::upstream::determinism
