#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

namespace {

// Servers of Google take names in both spellings.
constexpr request_form forms[] = {
    {.dialects = "gemini.generate", .seed = "/generationConfig/seed", .loose_names = true},
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
