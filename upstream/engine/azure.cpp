#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

namespace {

constexpr request_form forms[] = {
    {.dialects = "openai.chat|openai.completions", .seed = "/seed"},
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
