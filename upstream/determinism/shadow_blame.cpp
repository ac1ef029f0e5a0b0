#include "upstream/determinism/shadow_blame.hpp"

#include <algorithm>
#include <array>

namespace idem::upstream::determinism {

namespace {
constexpr std::array<std::string_view, blames> words{"undecided", "flip", "replica", "environment"};
}

std::string_view to_string(blame b) noexcept {
    return words[static_cast<std::size_t>(b)];
}

std::optional<blame> blame_from(std::string_view word) noexcept {
    const auto* const at = std::ranges::find(words, word);
    if (at == words.end()) return std::nullopt;
    return static_cast<blame>(at - words.begin());
}

shadow_finding find_blame(const shadow_trials& t) noexcept {
    const bool here = t.same_replica;  // one replica is both
    if (!t.twice) return {blame::undecided, here};
    if (*t.twice != t.again) return {blame::flip, here};
    // It is steady in saying something else.
    if (!t.other || *t.other == t.stored) return {blame::replica, here};
    if (here)
        return *t.other == t.again ? shadow_finding{blame::environment, true} : shadow_finding{blame::replica, true};
    // Who computed the stored answer does not give it again.
    return {blame::flip, true};
}

}  // namespace idem::upstream::determinism
