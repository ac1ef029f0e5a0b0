#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

namespace {

// Of 64 bits with sign.
constexpr request_rule rules[] = {
    {.at = "/seed",
     .is = request_rule::kind::supply,
     .least = std::numeric_limits<std::int64_t>::min(),
     .when = request_rule::under::seeded},
};

// A seed is "best effort" there; the Responses API has none.
constexpr request_form forms[] = {
    {.dialects = "openai.chat|openai.completions", .rules = rules, .seed = "/seed"},
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
