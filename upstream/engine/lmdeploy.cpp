#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

namespace {

constexpr request_rule rules[] = {
    {.at = "/seed", .is = request_rule::kind::supply, .when = request_rule::under::seeded},
};

// `seed` becomes the request's random_seed; several choices get it plus their index. There is no way to turn prefix
// caching off for one request, and the sampler of a whole batch depends on all of its requests.
constexpr request_form forms[] = {
    {.dialects = "openai.chat|openai.completions", .rules = rules, .seed = "/seed"},
};

// No endpoint tells a version: declare it.
constexpr fact_source model_facts[] = {{"model", "/data/*/root"}};
constexpr probe endpoints[] = {{.path = "/v1/models", .facts = model_facts}};
constexpr std::string_view unreadable[] = {
    "engine_version", "weights_sha256", "tokenizer_sha256", "chat_template_sha256",
    "dtype",          "quantization",   "tensor_parallel",  "gpu",
    "driver"};

}  // namespace

constinit const profile lmdeploy{
    .name = "lmdeploy",
    .stream_options = true,
    .models = true,
    .seeds = true,
    .requests = forms,
    .no_mixing = true,  // the argmax shortcut is taken only where the whole batch has top_k 1
    .probes = {.facts = endpoints, .health = "/health", .unreadable = unreadable},
    .evidence =
        "read from source: LMDeploy 0.16, lmdeploy/serve/openai/api_server.py and protocol.py, "
        "lmdeploy/pytorch/engine/logits_process.py",
};

}  // namespace idem::upstream::engine
