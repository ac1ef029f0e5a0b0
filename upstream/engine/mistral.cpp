#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

namespace {

constexpr request_rule rules[] = {
    {.at = "/random_seed", .is = request_rule::kind::supply, .when = request_rule::under::seeded},
};

constexpr request_form forms[] = {
    {.dialects = "openai.chat|mistral.fim", .rules = rules, .seed = "/random_seed"},
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
