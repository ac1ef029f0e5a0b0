#include "upstream/determinism/roster.hpp"

#include <algorithm>
#include <iterator>

namespace idem::upstream::determinism {

roster::roster(std::size_t replicas, bool watched)
    : watched_(watched), size_(replicas), conditions_(replicas, watched ? condition{} : unwatched_condition()) {}

void roster::set(std::size_t replica, condition c) {
    const std::lock_guard lock(mutex_);
    conditions_[replica] = std::move(c);
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
    }
    if (tell_) tell_(replica);
}

namespace {

// Best first. A replica that is draining takes no new request.
constexpr replica_state by_worth[] = {replica_state::admitted, replica_state::probing, replica_state::quarantined};

}  // namespace

void choose(std::vector<std::uint32_t>& order, std::span<const condition> of, demand wants, const digest& environment) {
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
