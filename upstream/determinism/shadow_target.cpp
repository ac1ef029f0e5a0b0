#include "upstream/determinism/shadow_target.hpp"

namespace idem::upstream::determinism {

namespace {

bool usable(const shadow_wish& w, std::span<const standing> replicas, std::span<const route::replica_class> health,
            std::size_t i) {
    if (i >= replicas.size() || (i < health.size() && health[i] == route::unwanted) || replicas[i].silent) return false;
    const standing& s = replicas[i];
    if (w.wants == demand::admitted) return s.state == replica_state::admitted && s.environment == w.epoch;
    return s.state == replica_state::admitted || s.state == replica_state::probing;
}

}  // namespace

std::optional<std::size_t> shadow_sibling(const shadow_wish& w, std::span<const standing> replicas,
                                          std::span<const route::replica_class> health,
                                          std::optional<std::size_t> not_this) {
    for (std::size_t n = 0; n < replicas.size(); ++n) {
        const std::size_t i = (w.turn + n) % replicas.size();
        if (i != not_this && replicas[i].environment == w.environment && usable(w, replicas, health, i)) return i;
    }
    return std::nullopt;
}

std::optional<std::size_t> shadow_target(const shadow_wish& w, std::span<const standing> replicas,
                                         std::span<const route::replica_class> health) {
    const bool origin = w.same && w.origin && usable(w, replicas, health, *w.origin);
    const auto other = w.sibling ? shadow_sibling(w, replicas, health, w.origin) : std::nullopt;
    if (other && (!origin || w.turn % 2 == 1)) return other;
    return origin ? w.origin : std::nullopt;
}

}  // namespace idem::upstream::determinism
