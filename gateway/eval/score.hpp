#pragma once
// From what was recorded to what may be said of it. Pure but for threads that it joins; any thread.
//
// Outputs are compared in normalised form (upstream::dialect::dialect::normalised). Of each prompt the reference is the
// commonest output of solo-cold, or of the first cell that has any: never the first run, which may be the deviant. A
// run of another output, in any cell whose outputs must agree, is a flip. Runs of a block during which the environment
// changed, or that has no end, count for nothing.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/eval/reading.hpp"
#include "gateway/eval/record.hpp"
#include "upstream/determinism/compare/divergence.hpp"
#include "upstream/determinism/compare/statistics.hpp"

namespace idem::gateway::eval {

/// Exit status of `idem eval` and what it means.
enum class verdict : std::uint8_t {
    deterministic = 0,
    flips = 1,
    not_enough = 3,
    environment_changed = 4,
    other_answers = 5,  // deterministic, and not the baseline's
};
[[nodiscard]] std::string_view to_string(verdict v) noexcept;

/// One prompt in one cell, in one of the ways in which the cell puts it.
struct result {
    std::string cell, prompt, variant;
    std::uint64_t runs = 0, errors = 0, voided = 0;
    upstream::determinism::spread spread;
    std::uint64_t flips = 0;                                       // against the reference
    std::map<unsigned, upstream::determinism::cluster> lifetimes;  // of the server, by number
    double score = 1;  // mean edit similarity over tokens, of all pairs of runs
    double characters = 1, bleu = 1;
    std::size_t sampled_pairs = 0, pairs = 0;
    bool engine_tokens = false;                 // `score` and `bleu` are over the engine's own
    upstream::determinism::interval flip_rate;  // Wilson's, two-sided at 95 %; for plots and tables
    // Against the first run that tells log-probabilities, as far as the tokens agree: the most of any run.
    upstream::determinism::drift_of_logprobs logprobs;
    double bound = 1;                                     // upper bound of a flip's probability, corrected over cells
    std::string output;                                   // SHA-256 of the commonest normalised output, hexadecimal
    bool first_differs = false;                           // the first run alone gave another output than all later ones
    bool prompt_drift = false;                            // the number of prompt tokens changed
    std::optional<upstream::determinism::parting> parts;  // of the commonest output and the commonest other one
    upstream::determinism::rung shared = upstream::determinism::rung::normalised;  // by all outputs and the reference
    std::optional<std::uint64_t>
        task_agrees;                   // runs whose task value is the reference's; absent: the prompt has no check
    std::vector<double> milliseconds;  // of each run, in their order
    std::vector<bool> agrees;          // with the reference, in their order
};

struct cell_result {
    std::string cell;
    std::uint64_t runs = 0, flips = 0, errors = 0;
    double score = 1;  // the worst prompt's
    double bound = 1;  // the worst of the prompts with the most runs and of those that flipped
    int peak_running = -1;
    unsigned peak_in_flight = 0;
    std::uint64_t blocks = 0, crowded_blocks = 0;  // in which the engine said that it worked on two calls or more
    std::uint64_t others_answered = 0, others_failed = 0;
    std::uint64_t lifetimes = 0, flipped_lifetimes = 0;  // of the server
    upstream::determinism::interval flip_rate;           // bootstrap over prompts and lifetimes, two-sided at 95 %
    double lifetime_bound = 1;                           // of the probability that a lifetime has a flip
    bool deterministic = true;
};

struct summary {
    verdict says = verdict::not_enough;
    std::vector<std::string> reasons;  // for people, each a sentence
    std::vector<cell_result> cells;
    std::vector<result> results;
    double score = 1, bound = 1, p_max = 0, confidence = 0;
    bool control_saw = false, drift = false, torn = false;
    std::uint64_t runs = 0, voided = 0, errors = 0;
};

[[nodiscard]] summary summarise(const recording& all, unsigned threads);

/// Whether a flip that is written into what was recorded is found: what proves that this evaluation could have seen
/// one.
[[nodiscard]] bool would_see_a_flip(const recording& all);

/// Blocks whose runs may be counted.
[[nodiscard]] std::set<unsigned> sound_blocks(const recording& all);
/// What each prompt's greedy runs have to give: its reference, by prompt. Prompts without a usable answer are left out.
[[nodiscard]] std::map<std::string, std::string> reference_outputs(const recording& all);

}  // namespace idem::gateway::eval
