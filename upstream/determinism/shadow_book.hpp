#pragma once
// The account of shadow runs of one upstream: how many ended how, how each replica scores, and the last divergences.
// Plain data. Not thread-safe.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "upstream/base/digest.hpp"
#include "upstream/determinism/observation.hpp"
#include "upstream/determinism/shadow_blame.hpp"

namespace idem::upstream::determinism {

enum class shadow_result : std::uint8_t {
    verified,    // the same output again
    divergence,  // the three of contrast
    drift,
    variation,
    failed,   // no whole answer to compare with
    skipped,  // given up before it was asked: load, age, no replica to ask
};
inline constexpr std::size_t shadow_results = 6;
[[nodiscard]] std::string_view to_string(shadow_result r) noexcept;
[[nodiscard]] shadow_result result_of(contrast c) noexcept;

/// Of one replica: its runs that were promised to be the same.
struct shadow_score {
    std::uint64_t same = 0, diverged = 0;
    std::int64_t counted = 0;  // divergences that it is to blame for, since it was quarantined for them last
    bool operator==(const shadow_score&) const = default;
    /// Share of the runs that were the same; nullopt without runs.
    [[nodiscard]] std::optional<double> share() const noexcept;
};

/// As it is reported. Never the answers: at most an excerpt where they part, if the operator wants it.
struct shadow_divergence {
    std::int64_t at = 0;  // Unix milliseconds
    digest request, key, stored, again;
    digest environment, environment_again;
    id128 epoch;
    std::string model, dialect, policy;
    std::string replica, replica_again;                // of the stored answer, of the run that differed
    std::uint64_t byte = 0, character = 0, token = 0;  // the first difference of the normalised outputs
    std::string before, stored_text, again_text;       // excerpts; empty where they are not wanted
    blame cause = blame::undecided;
    std::string blamed;  // a replica; empty where nobody is
    bool operator==(const shadow_divergence&) const = default;
};

/// Books add up: what one process has counted since it wrote last goes on top of what is written.
struct shadow_book {
    static constexpr std::size_t kept = 100;  // divergences

    std::array<std::uint64_t, shadow_results> totals{};
    std::map<std::string, shadow_score, std::less<>> scores;  // by replica
    std::vector<shadow_divergence> divergences;               // the last ones, oldest first
    std::uint64_t seen = 0;                                   // divergences ever

    /// One run ended. `replica`: who was asked, where somebody was.
    void count(shadow_result r, std::string_view replica);
    /// A divergence, which count() has counted.
    void add(shadow_divergence d);
    /// The replica has been quarantined for so many divergences.
    void settle(std::string_view replica, std::int64_t divergences_of_it);
    /// What was counted before all of this.
    void merge(const shadow_book& earlier);
    [[nodiscard]] std::uint64_t total(shadow_result r) const noexcept { return totals[static_cast<std::size_t>(r)]; }
    [[nodiscard]] shadow_score score_of(std::string_view replica) const;
    bool operator==(const shadow_book&) const = default;
};

}  // namespace idem::upstream::determinism
