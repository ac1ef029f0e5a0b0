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
      transitions_(replicas) {}

// With the lock held, after a condition became another one.
void roster::changed(std::size_t replica) {
    const condition& c = conditions_[replica];
    const standing& was = (*standings_)[replica];
    if (was.state == c.state && was.environment == c.environment) return;
    if (was.state != c.state)
        transitions_[replica][static_cast<std::size_t>(c.state)].fetch_add(1, std::memory_order_relaxed);
    auto next = std::make_shared<std::vector<standing>>(*standings_);
    (*next)[replica] = {c.state, c.environment};
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

route::replica_class class_of(const standing& s, demand wants, const digest& environment) noexcept {
    if (wants == demand::admitted) {
        const bool good = s.state == replica_state::admitted && s.environment == environment;
        return good ? route::replica_class{0} : route::unwanted;
    }
    switch (s.state) {
        case replica_state::admitted:
            return 0;
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

void classify(std::vector<route::replica_class>& classes, std::span<const standing> of, demand wants,
              const digest& environment) {
    classes.resize(of.size());
    for (std::size_t i = 0; i < of.size(); ++i) {
        if (classes[i] != route::unwanted) classes[i] = class_of(of[i], wants, environment);
    }
}

}  // namespace idem::upstream::determinism
