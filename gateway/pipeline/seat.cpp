#include "gateway/pipeline/seat.hpp"

#include "gateway/pipeline/items.hpp"

namespace idem::gateway::pipeline {

cache::flight_table::joined take_seat(services& at, prepared& p, bool alone) {
    const std::shared_ptr<const cache::ban_table> bans = at.common.bans.table();
    p.ban = bans->mark();
    const cache::flight::limits limits = limits_of(at.common.plan.settings().cache.entry, p.items.get());
    if (alone) return cache::flight_table::alone(at.on, limits);
    const std::vector<std::string> tags = cache::split_tags(p.controls.tags);
    return at.common.flights.join(p.subject(tags), at.on, limits, *bans);
}

}  // namespace idem::gateway::pipeline
