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

// Best first. A replica that is draining takes no new request.
constexpr replica_state by_worth[] = {replica_state::admitted, replica_state::probing, replica_state::quarantined};

}  // namespace

void choose(std::vector<std::uint32_t>& order, std::span<const standing> of, demand wants, const digest& environment) {
    if (wants == demand::admitted) {
        std::erase_if(order, [&](std::uint32_t i) {
            return of[i].state != replica_state::admitted || of[i].environment != environment;
        });
        return;
    }
    std::vector<std::uint32_t> better;
    better.reserve(order.size());
    auto take = [&](replica_state s) {
        std::ranges::copy_if(order, std::back_inserter(better), [&](std::uint32_t i) { return of[i].state == s; });
    };
    for (const replica_state s : by_worth) take(s);
    if (better.empty()) take(replica_state::down);
    order = std::move(better);
}

}  // namespace idem::upstream::determinism
