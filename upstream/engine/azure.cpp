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

constexpr request_form forms[] = {
    {.dialects = "openai.chat|openai.completions", .rules = rules, .seed = "/seed"},
};

}  // namespace

constinit const profile azure{
    .name = "azure",
    .stream_options = true,
    .models = true,
    .hosted = true,
    .seeds = true,
    .requests = forms,
    .evidence = "Azure OpenAI documentation, \"Learn how to use reproducible output\"; REST API reference, v1",
};

}  // namespace idem::upstream::engine
