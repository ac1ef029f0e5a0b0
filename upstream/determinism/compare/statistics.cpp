#include "upstream/determinism/compare/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <vector>

#include "upstream/base/sequence.hpp"

namespace idem::upstream::determinism {

namespace {

double lower(std::uint64_t flips, std::uint64_t runs, double alpha) {
    if (flips == 0) return 0;
    return quantile(boost::math::beta_distribution<>(static_cast<double>(flips), static_cast<double>(runs - flips + 1)),
                    alpha);
}

double upper(std::uint64_t flips, std::uint64_t runs, double alpha) {
    if (flips >= runs) return 1;
    if (flips == 0) return -std::expm1(std::log(alpha) / static_cast<double>(runs));  // 1 - alpha^(1/n)
    return quantile(complement(
        boost::math::beta_distribution<>(static_cast<double>(flips + 1), static_cast<double>(runs - flips)), alpha));
}

double log_choose(std::uint64_t n, std::uint64_t k) {
    return std::lgamma(static_cast<double>(n + 1)) - std::lgamma(static_cast<double>(k + 1)) -
           std::lgamma(static_cast<double>(n - k + 1));
}

}  // namespace

double upper_bound(std::uint64_t flips, std::uint64_t runs, double confidence) {
    return runs == 0 ? 1 : upper(flips, runs, 1 - confidence);
}

interval clopper_pearson(std::uint64_t flips, std::uint64_t runs, double confidence) {
    if (runs == 0) return {};
    const double half = (1 - confidence) / 2;
    return {lower(flips, runs, half), upper(flips, runs, half)};
}

interval wilson(std::uint64_t flips, std::uint64_t runs, double confidence) {
    if (runs == 0) return {};
    const double z = quantile(boost::math::normal(), 1 - (1 - confidence) / 2);
    const auto n = static_cast<double>(runs);
    const double p = static_cast<double>(flips) / n, square = z * z / n;
    const double middle = (p + square / 2) / (1 + square);
    const double reach = z / (1 + square) * std::sqrt(p * (1 - p) / n + square / (4 * n));
    return {flips == 0 ? 0 : std::max(0.0, middle - reach), flips == runs ? 1 : std::min(1.0, middle + reach)};
}

std::uint64_t required_runs(double bound, double confidence) {
    const double runs = std::ceil(std::log1p(-confidence) / std::log1p(-bound));
    auto n = static_cast<std::uint64_t>(std::max(runs, 1.0));
    while (n > 1 && upper_bound(0, n - 1, confidence) <= bound) --n;  // what rounding added
    while (upper_bound(0, n, confidence) > bound) ++n;
    return n;
}

double corrected(double confidence, std::size_t cells) noexcept {
    return cells <= 1 ? confidence : 1 - (1 - confidence) / static_cast<double>(cells);
}

double power(double hazard, std::uint64_t runs) noexcept {
    return -std::expm1(static_cast<double>(runs) * std::log1p(-hazard));
}

double fisher_exact(std::uint64_t flips_a, std::uint64_t runs_a, std::uint64_t flips_b, std::uint64_t runs_b) {
    const std::uint64_t flips = flips_a + flips_b, runs = runs_a + runs_b;
    const std::uint64_t least = flips > runs_b ? flips - runs_b : 0, most = std::min(flips, runs_a);
    const double all = log_choose(runs, flips);
    const auto probability = [&](std::uint64_t k) {
        return std::exp(log_choose(runs_a, k) + log_choose(runs_b, flips - k) - all);
    };
    // As probable as the one seen, but for rounding.
    const double seen = probability(flips_a) * (1 + 1e-7);
    double sum = 0;
    for (std::uint64_t k = least; k <= most; ++k) {
        const double p = probability(k);
        if (p <= seen) sum += p;
    }
    return std::min(sum, 1.0);
}

spread spread_of(std::span<const std::uint64_t> counts) {
    spread s;
    std::uint64_t most = 0;
    for (const std::uint64_t c : counts) {
        s.runs += c;
        s.unique += c > 0;
        most = std::max(most, c);
    }
    if (s.unique <= 1) return s;
    const auto n = static_cast<double>(s.runs);
    s.modal_share = static_cast<double>(most) / n;
    s.flip_rate = static_cast<double>(s.runs - most) / n;
    double agreeing = 0;
    for (const std::uint64_t c : counts) {
        if (c == 0) continue;
        const auto k = static_cast<double>(c);
        agreeing += k * (k - 1);
        s.entropy -= k / n * std::log2(k / n);
    }
    s.agreement = agreeing / (n * (n - 1));
    return s;
}

interval cluster_bootstrap(std::span<const cluster> of, double confidence, unsigned rounds, std::uint64_t seed) {
    if (of.empty() || rounds == 0) return {};
    sequence random(seed);
    std::vector<double> shares;
    shares.reserve(rounds);
    for (unsigned r = 0; r < rounds; ++r) {
        std::uint64_t flips = 0, runs = 0;
        for (std::size_t i = 0; i < of.size(); ++i) {
            const cluster& c = of[random() % of.size()];
            flips += c.flips;
            runs += c.runs;
        }
        shares.push_back(runs == 0 ? 0 : static_cast<double>(flips) / static_cast<double>(runs));
    }
    std::ranges::sort(shares);
    const double half = (1 - confidence) / 2;
    const auto at = [&](double p) {
        return shares[static_cast<std::size_t>(std::lround(p * static_cast<double>(rounds - 1)))];
    };
    return {at(half), at(1 - half)};
}

}  // namespace idem::upstream::determinism
