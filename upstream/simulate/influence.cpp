#include "upstream/simulate/influence.hpp"

#include "upstream/simulate/memory.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {
namespace {

// Kernels differ in the first few tokens, so that short answers show it.
constexpr std::uint64_t early = 4;

void stray(asked& a, std::size_t from, std::uint64_t state) {
    a.strays.push_back({from, state});
    a.vector_state = mix(a.vector_state ^ state);
}

bool kept(const asked& a, engine_memory& memory) {
    std::uint64_t prompt = mix(a.salt);
    for (const std::string_view input : a.inputs) prompt = mix(prompt ^ meaning(input));
    const bool before = memory.keep(prompt);
    return before && !a.cold;
}

}  // namespace

void influence(asked& a, const simulate_options& options, const chance& luck, bool templated) {
    if (options.dated_template && templated) {
        const auto second = static_cast<std::uint64_t>(luck.now);
        a.state = mix(a.state ^ second);
        a.prompt_tokens += second % 10;
    }
    if (options.global_rng && a.sampled && luck.memory) {
        a.seeded = true;  // by what is drawn next
        a.state = mix(luck.memory->draw());
    }
    if (luck.environment > 0) stray(a, 0, mix(luck.environment));
    if (options.prefix_cache && luck.memory && kept(a, *luck.memory)) stray(a, mix(a.state) % early, mix(~0U));
    if (options.batch_sensitive && luck.running > 0) {
        const std::uint64_t beside = mix(luck.running << 32U);
        stray(a, mix(a.state ^ beside) % early, beside);
    }
    if (luck.flip < options.flip_hazard) a.vector_state = mix(a.vector_state ^ luck.seed);
}

}  // namespace idem::upstream::simulate
