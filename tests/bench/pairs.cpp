// What it takes to compare 200 different outputs of 4,096 tokens, 19,900 pairs, on two threads; characters and BLEU
// over a sample of 500 pairs. Every output is a random text of its own, the worst case: nothing in common to be
// skipped.
#include <benchmark/benchmark.h>

#include <random>

#include "upstream/determinism/compare/pairs.hpp"

namespace {

using namespace idem::upstream::determinism;

std::vector<output_group> outputs_of(std::size_t count, std::size_t tokens) {
    std::mt19937_64 random(1);
    vocabulary words;
    std::vector<output_group> out(count);
    for (output_group& o : out) {
        // A word and a blank are two tokens.
        for (std::size_t i = 0; i < tokens / 2; ++i) o.text += "w" + std::to_string(random() % 5000) + " ";
        o.tokens = words.tokens_of(o.text);
    }
    return out;
}

void pairs(benchmark::State& state) {
    const auto outputs = outputs_of(200, 4096);
    const auto sample = static_cast<std::size_t>(state.range(0));
    for (auto _ : state) {
        pair_means m = compare_pairs(outputs, sample, 1, 2);
        benchmark::DoNotOptimize(m);
        state.counters["pairs"] = static_cast<double>(m.pairs);
        state.counters["sampled"] = static_cast<double>(m.sampled);
        state.counters["score"] = m.tokens;
    }
}

// With one sampled pair the time is that of the tokens.
BENCHMARK(pairs)->Arg(1)->Arg(500)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);

}  // namespace

BENCHMARK_MAIN();
