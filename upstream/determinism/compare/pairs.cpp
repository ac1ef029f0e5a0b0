#include "upstream/determinism/compare/pairs.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "upstream/base/sequence.hpp"
#include "upstream/determinism/compare/bleu.hpp"
#include "upstream/determinism/compare/edit_distance.hpp"
#include "upstream/determinism/compare/statistics.hpp"

namespace idem::upstream::determinism {

namespace {

using pair = std::pair<std::size_t, std::size_t>;

// Calls `work(i)` for every i below `count`, each once.
void share_out(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next{0};
    const auto run = [&] {
        for (std::size_t i = next++; i < count; i = next++) work(i);
    };
    std::vector<std::jthread> helpers;
    for (unsigned t = 1; t < threads && t < count; ++t) helpers.emplace_back(run);
    run();
}

std::vector<pair> sample_of(std::size_t outputs, std::size_t sample, std::uint64_t seed) {
    std::vector<pair> all;
    all.reserve(outputs * (outputs - 1) / 2);
    for (std::size_t i = 0; i < outputs; ++i)
        for (std::size_t j = i + 1; j < outputs; ++j) all.emplace_back(i, j);
    if (all.size() <= sample) return all;
    // The first of a shuffle (Fisher and Yates).
    sequence random(seed);
    for (std::size_t k = 0; k < sample; ++k) std::swap(all[k], all[k + random() % (all.size() - k)]);
    all.resize(sample);
    return all;
}

// Of a mean over pairs of distinct outputs the one over pairs of runs.
double of_runs(double agreement, double sum, double weight) {
    return agreement + (1 - agreement) * sum / weight;
}

}  // namespace

pair_means compare_pairs(std::span<const output_group> outputs, std::size_t sample, std::uint64_t seed,
                         unsigned threads) {
    pair_means means;
    if (outputs.size() <= 1) return means;
    std::vector<std::uint64_t> counts;
    for (const output_group& o : outputs) counts.push_back(o.runs);
    const double agreement = spread_of(counts).agreement;
    means.pairs = outputs.size() * (outputs.size() - 1) / 2;

    // One output against all later ones, so that what is worked out of it serves many pairs.
    std::vector<double> sums(outputs.size()), weights(outputs.size());
    share_out(outputs.size(), threads, [&](std::size_t i) {
        distance_from from(outputs[i].tokens);
        for (std::size_t j = i + 1; j < outputs.size(); ++j) {
            const double weight = static_cast<double>(outputs[i].runs) * static_cast<double>(outputs[j].runs);
            const std::size_t apart = from.to(outputs[j].tokens);
            sums[i] += weight * similarity(apart, outputs[i].tokens.size(), outputs[j].tokens.size());
            weights[i] += weight;
        }
    });
    double sum = 0, weight = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        sum += sums[i];
        weight += weights[i];
    }
    means.tokens = of_runs(agreement, sum, weight);

    const std::vector<pair> some = sample_of(outputs.size(), sample, seed);
    means.sampled = some.size();
    std::vector<double> characters(some.size()), bleu(some.size());
    share_out(some.size(), threads, [&](std::size_t k) {
        const output_group &a = outputs[some[k].first], &b = outputs[some[k].second];
        characters[k] = edit_similarity(characters_of(a.text), characters_of(b.text));
        bleu[k] = symmetric_bleu(a.tokens, b.tokens);
    });
    double character_sum = 0, bleu_sum = 0;
    weight = 0;
    for (std::size_t k = 0; k < some.size(); ++k) {
        const double w =
            static_cast<double>(outputs[some[k].first].runs) * static_cast<double>(outputs[some[k].second].runs);
        character_sum += w * characters[k];
        bleu_sum += w * bleu[k];
        weight += w;
    }
    means.characters = of_runs(agreement, character_sum, weight);
    means.bleu = of_runs(agreement, bleu_sum, weight);
    return means;
}

}  // namespace idem::upstream::determinism
