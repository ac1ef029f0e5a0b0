#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

namespace {

// Of 32 bits with sign (format int32).
constexpr request_rule rules[] = {
    {.at = "/generationConfig/seed",
     .is = request_rule::kind::supply,
     .least = std::numeric_limits<std::int32_t>::min(),
     .most = std::numeric_limits<std::int32_t>::max(),
     .when = request_rule::under::seeded},
};

// Servers of Google take names in both spellings.
constexpr request_form forms[] = {
    {.dialects = "gemini.generate", .rules = rules, .seed = "/generationConfig/seed", .loose_names = true},
};

}  // namespace

constinit const profile gemini{
    .name = "gemini",
    .hosted = true,
    .seeds = true,
    .requests = forms,
    .evidence = "Gemini API reference: GenerationConfig.seed; models are under /v1beta/models, not /v1/models",
};

}  // namespace idem::upstream::engine
