#pragma once
// Which replica runs an answered request again. Pure; any thread.
#include <cstddef>
#include <optional>
#include <span>

#include "upstream/determinism/roster.hpp"

namespace idem::upstream::determinism {

struct shadow_wish {
    std::optional<std::size_t> origin;  // the replica that gave the answer, where there still is one of its name
    digest environment;                 // of the answer
    demand wants = demand::any;         // of the policy
    digest epoch;                       // the epoch's environment
    bool same = true, sibling = true;   // who may
    std::size_t turn = 0;               // grows with each choice: takes them in turn
};

/// `health` as route::shared_health marks it; it may be empty. Nullopt: there is nobody to ask.
[[nodiscard]] std::optional<std::size_t> shadow_target(const shadow_wish& w, std::span<const standing> replicas,
                                                       std::span<const route::replica_class> health);
/// Another replica than `not_this`, in the answer's environment.
[[nodiscard]] std::optional<std::size_t> shadow_sibling(const shadow_wish& w, std::span<const standing> replicas,
                                                        std::span<const route::replica_class> health,
                                                        std::optional<std::size_t> not_this);

}  // namespace idem::upstream::determinism
