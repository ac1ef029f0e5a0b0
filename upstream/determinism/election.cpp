#include "upstream/determinism/election.hpp"

#include <algorithm>
#include <map>

namespace idem::upstream::determinism {

namespace {

bool counts(const ballot& vote, bool somebody_tells) noexcept {
    return vote.environment && (vote.told > 0 || !somebody_tells);
}

}  // namespace

std::size_t facts_told(const environment& of) noexcept {
    return static_cast<std::size_t>(std::ranges::count_if(
        of.facts(), [](const fact& f) { return f.from == provenance::measured || f.from == provenance::reported; }));
}

std::optional<digest> majority_environment(std::span<const ballot> votes) {
    const bool somebody_tells = std::ranges::any_of(votes, [](const ballot& v) { return v.environment && v.told > 0; });
    std::map<digest, std::size_t> given;
    std::size_t all = 0;
    for (const ballot& v : votes) {
        if (!counts(v, somebody_tells)) continue;
        ++given[*v.environment];
        ++all;
    }
    const auto most = std::ranges::max_element(given, {}, [](const auto& v) { return v.second; });
    if (most == given.end() || most->second * 2 <= all) return std::nullopt;
    return most->first;
}

std::optional<digest> first_environment(std::span<const ballot> votes) {
    if (auto most = majority_environment(votes)) return most;
    const ballot* best = nullptr;
    for (const ballot& v : votes) {
        if (v.environment && (!best || v.told > best->told)) best = &v;
    }
    return best ? best->environment : std::nullopt;
}

void epoch_pace::opened(net::time_point now) noexcept {
    const bool calm = next_ == net::time_point::min() || now >= next_ + 9 * pause_;
    pause_ = calm ? shortest : std::min(2 * pause_, longest);
    next_ = now + pause_;
}

}  // namespace idem::upstream::determinism
