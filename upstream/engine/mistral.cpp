#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

namespace {

constexpr request_form forms[] = {
    {.dialects = "openai.chat|mistral.fim", .seed = "/random_seed"},
};

}  // namespace

// Streams bring their usage without being asked, and asking is answered 422.
constinit const profile mistral{
    .name = "mistral",
    .models = true,
    .hosted = true,
    .seeds = true,
    .requests = forms,
    .evidence = "Mistral API reference: chat and FIM completion, random_seed; list models",
};

}  // namespace idem::upstream::engine
