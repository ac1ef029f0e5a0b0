#include "cache/flight/table.hpp"

namespace idem::cache {

flight_table::joined flight_table::join(const ban_subject& subject, net::executor on, flight::limits limits,
                                        const ban_table& bans) {
    shard& s = of(subject.key);
    const std::scoped_lock lock(s.mutex);
    auto& slot = s.flights[subject.key];
    if (slot) slot->hold_against(bans);
    if (slot) {
        auto place = std::make_unique<follower>(slot, on);
        if (slot->add(*place)) return {std::move(place), false};
        // Abandoned, overflowed or invalidated between its last change and its removal: take its place in the table.
        // Its own remove() finds another flight there and does nothing.
    }
    slot = std::make_shared<flight>(on, limits);
    slot->concerns(subject);
    auto place = std::make_unique<follower>(slot, on);
    [[maybe_unused]] const bool added = slot->add(*place);  // nobody else can have seen it
    return {std::move(place), true};
}

flight_table::joined flight_table::alone(net::executor on, flight::limits limits) {
    auto f = std::make_shared<flight>(on, limits);
    auto place = std::make_unique<follower>(f, on);
    [[maybe_unused]] const bool added = f->add(*place);
    return {std::move(place), true};
}

void flight_table::remove(const cache_key& key, const flight& which) {
    shard& s = of(key);
    const std::scoped_lock lock(s.mutex);
    auto at = s.flights.find(key);
    if (at != s.flights.end() && at->second.get() == &which) s.flights.erase(at);
}

bool flight_table::invalidate(const cache_key& key) {
    shard& s = of(key);
    const std::scoped_lock lock(s.mutex);
    auto at = s.flights.find(key);
    if (at == s.flights.end()) return false;
    at->second->invalidate();
    s.flights.erase(at);
    return true;
}

std::size_t flight_table::size() const {
    std::size_t n = 0;
    for (const shard& s : shards_) {
        const std::scoped_lock lock(s.mutex);
        n += s.flights.size();
    }
    return n;
}

std::size_t flight_table::followers() const {
    std::size_t n = 0;
    for (const shard& s : shards_) {
        const std::scoped_lock lock(s.mutex);
        for (const auto& [key, f] : s.flights) n += f->followers();
    }
    return n;
}

}  // namespace idem::cache
