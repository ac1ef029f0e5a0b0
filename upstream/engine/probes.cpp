#include "upstream/engine/probes.hpp"

#include <algorithm>

namespace idem::upstream::engine {

bool readable(const probe_plan& plan, std::string_view fact) noexcept {
    return std::ranges::any_of(plan.facts, [&](const probe& p) {
        return std::ranges::find(p.facts, fact, &fact_source::fact) != p.facts.end();
    });
}

}  // namespace idem::upstream::engine
