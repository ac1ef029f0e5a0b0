#pragma once
// What n runs say about the probability of a flip, and no more. Pure; any thread.
//
// Exact binomial bounds are those of Clopper and Pearson (Biometrika 26, 1934); the interval for plots is Wilson's
// (JASA 22, 1927); several cells are corrected by Bonferroni's inequality; conditions are compared by Fisher's exact
// test (1922), two-sided as the sum of all tables that are no more probable than the one seen.
#include <cstdint>
#include <span>

namespace idem::upstream::determinism {

struct interval {
    double low = 0, high = 1;
};

/// Upper bound of the probability after `flips` in `runs`, one-sided at `confidence`; 1 without runs.
[[nodiscard]] double upper_bound(std::uint64_t flips, std::uint64_t runs, double confidence);
/// Two-sided.
[[nodiscard]] interval clopper_pearson(std::uint64_t flips, std::uint64_t runs, double confidence);
[[nodiscard]] interval wilson(std::uint64_t flips, std::uint64_t runs, double confidence);
/// How many runs without a flip it takes for upper_bound() to be at most `bound`; bound in (0, 1).
[[nodiscard]] std::uint64_t required_runs(double bound, double confidence);
/// The confidence that each of `cells` needs for all of them together to have `confidence`.
[[nodiscard]] double corrected(double confidence, std::size_t cells) noexcept;
/// Probability of at least one flip in `runs`, each with probability `hazard`.
[[nodiscard]] double power(double hazard, std::uint64_t runs) noexcept;
/// Two-sided p-value of flips_a of runs_a against flips_b of runs_b.
[[nodiscard]] double fisher_exact(std::uint64_t flips_a, std::uint64_t runs_a, std::uint64_t flips_b,
                                  std::uint64_t runs_b);

/// Of how often each distinct output came, which sums up to at least one.
struct spread {
    std::uint64_t runs = 0, unique = 0;
    double modal_share = 1;  // of the commonest
    double flip_rate = 0;    // 1 - modal_share: against the mode, never against the first run
    double agreement = 1;    // probability that two runs of these agree; 1 for one run
    double entropy = 0;      // bits
};
[[nodiscard]] spread spread_of(std::span<const std::uint64_t> counts);

/// The mean over all pairs of runs of how alike they are: `alike(i, j)` of two distinct outputs, 1 within one.
/// Exactly 1 where there is one output.
template <class Alike>
[[nodiscard]] double pair_score(std::span<const std::uint64_t> counts, Alike alike) {
    const spread s = spread_of(counts);
    if (s.unique <= 1) return 1;
    double sum = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const auto a = static_cast<double>(counts[i]);
        sum += a * (a - 1);
        for (std::size_t j = i + 1; j < counts.size(); ++j) sum += 2 * a * static_cast<double>(counts[j]) * alike(i, j);
    }
    const auto n = static_cast<double>(s.runs);
    return sum / (n * (n - 1));
}

/// A group of runs that are not independent of each other: of one prompt, in one server's lifetime.
struct cluster {
    std::uint64_t flips = 0, runs = 0;
};
/// Percentile bootstrap over whole clusters (Efron, 1979) of the share of flips. The same seed gives the same interval.
[[nodiscard]] interval cluster_bootstrap(std::span<const cluster> of, double confidence, unsigned rounds,
                                         std::uint64_t seed);

}  // namespace idem::upstream::determinism
