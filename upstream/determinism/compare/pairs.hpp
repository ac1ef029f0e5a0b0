#pragma once
// How alike the distinct outputs of many runs are, pair by pair. Uses threads of its own and joins them; any thread.
#include <cstdint>
#include <span>
#include <string>

#include "upstream/determinism/compare/tokens.hpp"

namespace idem::upstream::determinism {

/// One distinct output. Tokens of one comparison come from one vocabulary.
struct output_group {
    std::string text;
    token_list tokens;
    std::uint64_t runs = 1;  // that gave it
};

/// Means over all pairs of runs, two runs of one output being alike to 1. Each is exactly 1 where there is one output.
struct pair_means {
    double tokens = 1;        // edit similarity over tokens, of every pair: the determinism score
    double characters = 1;    // the same over Unicode scalar values
    double bleu = 1;          // symmetric sentence BLEU over tokens
    std::size_t pairs = 0;    // of distinct outputs
    std::size_t sampled = 0;  // of them looked at for `characters` and `bleu`: all, or a sample
};

/// `sample`: pairs that are enough for characters and BLEU; which ones the seed says. Cost: a pair of 4,096 tokens
/// takes about half a millisecond for its tokens, some ten times that for its characters and BLEU.
[[nodiscard]] pair_means compare_pairs(std::span<const output_group> outputs, std::size_t sample, std::uint64_t seed,
                                       unsigned threads);

}  // namespace idem::upstream::determinism
