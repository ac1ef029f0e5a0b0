#include "upstream/determinism/shadow_book.hpp"

#include <algorithm>
#include <iterator>

namespace idem::upstream::determinism {

namespace {
constexpr std::array<std::string_view, shadow_results> words{"verified",  "divergence", "drift",
                                                             "variation", "failed",     "skipped"};
}

std::string_view to_string(shadow_result r) noexcept {
    return words[static_cast<std::size_t>(r)];
}

shadow_result result_of(contrast c) noexcept {
    switch (c) {
        case contrast::divergence:
            return shadow_result::divergence;
        case contrast::drift:
            return shadow_result::drift;
        case contrast::variation:
            return shadow_result::variation;
        case contrast::same:
            break;
    }
    return shadow_result::verified;
}

std::optional<double> shadow_score::share() const noexcept {
    if (same + diverged == 0) return std::nullopt;
    return static_cast<double>(same) / static_cast<double>(same + diverged);
}

void shadow_book::count(shadow_result r, std::string_view replica) {
    ++totals[static_cast<std::size_t>(r)];
    if (replica.empty() || (r != shadow_result::verified && r != shadow_result::divergence)) return;
    shadow_score& s = scores[std::string(replica)];
    ++(r == shadow_result::verified ? s.same : s.diverged);
}

namespace {
void cut(std::vector<shadow_divergence>& to) {
    if (to.size() <= shadow_book::kept) return;
    to.erase(to.begin(), to.end() - static_cast<std::ptrdiff_t>(shadow_book::kept));
}
}  // namespace

void shadow_book::add(shadow_divergence d) {
    ++seen;
    if (!d.blamed.empty()) ++scores[d.blamed].counted;
    divergences.push_back(std::move(d));
    cut(divergences);
}

void shadow_book::settle(std::string_view replica, std::int64_t divergences_of_it) {
    scores[std::string(replica)].counted -= divergences_of_it;
}

void shadow_book::merge(const shadow_book& earlier) {
    for (std::size_t i = 0; i < shadow_results; ++i) totals[i] += earlier.totals[i];
    for (const auto& [name, s] : earlier.scores) {
        shadow_score& mine = scores[name];
        mine.same += s.same;
        mine.diverged += s.diverged;
        mine.counted += s.counted;
    }
    std::vector<shadow_divergence> all;
    all.reserve(divergences.size() + earlier.divergences.size());
    std::ranges::merge(earlier.divergences, divergences, std::back_inserter(all), {}, &shadow_divergence::at,
                       &shadow_divergence::at);
    divergences = std::move(all);
    cut(divergences);
    seen += earlier.seen;
}

shadow_score shadow_book::score_of(std::string_view replica) const {
    const auto at = scores.find(replica);
    return at == scores.end() ? shadow_score{} : at->second;
}

}  // namespace idem::upstream::determinism
