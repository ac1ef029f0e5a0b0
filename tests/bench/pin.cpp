// What the choice of a replica costs, among one and among a hundred: by the digest alone, with weights, with states,
// and in full order as after a failure. tests/bench/pin_cost.py reads it.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "upstream/route/pin.hpp"

namespace {

using namespace idem::upstream::route;

class pool {
public:
    explicit pool(const benchmark::State& state, bool weighted) {
        const auto size = static_cast<std::size_t>(state.range(0));
        for (std::size_t i = 0; i < size; ++i) names_.push_back("replica-" + std::to_string(i));
        for (std::size_t i = 0; i < size; ++i)
            candidates.push_back({names_[i], weighted ? static_cast<std::uint32_t>(1 + i % 3) : 1});
    }
    std::vector<candidate> candidates;

private:
    std::vector<std::string> names_;
};

// Another request each time, so that no branch is learnt by heart.
class requests {
public:
    const idem::digest& next() {
        ++at_.bytes[0];
        at_.bytes[9] = static_cast<std::uint8_t>(at_.bytes[9] + 3);
        return at_;
    }

private:
    idem::digest at_ = idem::sha256("a request");
};

void best(benchmark::State& state, bool weighted, bool states) {
    const pool of(state, weighted);
    const contest among(of.candidates);
    const std::vector<replica_class> known(states ? of.candidates.size() : 0);
    requests asked;
    for (auto _ : state) benchmark::DoNotOptimize(among.best(asked.next(), known));
}

void full_order(benchmark::State& state) {
    const pool of(state, false);
    requests asked;
    std::vector<std::uint32_t> order;
    for (auto _ : state) {
        rank(asked.next(), of.candidates, order);
        benchmark::DoNotOptimize(order.data());
    }
}

BENCHMARK_CAPTURE(best, alike, false, false)->Arg(1)->Arg(100);
BENCHMARK_CAPTURE(best, weighted, true, false)->Arg(1)->Arg(100);
BENCHMARK_CAPTURE(best, states, false, true)->Arg(1)->Arg(100);
BENCHMARK(full_order)->Arg(1)->Arg(100);

}  // namespace

BENCHMARK_MAIN();
