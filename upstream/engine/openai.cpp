#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

namespace {

// A seed is "best effort" there; the Responses API has none.
constexpr request_form forms[] = {
    {.dialects = "openai.chat|openai.completions", .seed = "/seed"},
};

}  // namespace

constinit const profile openai{
    .name = "openai",
    .stream_options = true,
    .models = true,
    .hosted = true,
    .seeds = true,
    .requests = forms,
    .evidence = "OpenAI API reference: chat and completions, seed, stream_options.include_usage; models, list",
};

}  // namespace idem::upstream::engine
