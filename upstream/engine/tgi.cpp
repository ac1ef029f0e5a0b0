#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

namespace {

using rule = request_rule;

// Each sampled row has a generator of its own (utils/tokens.py, Sampling). Its own API refuses best_of beside a seed.
constexpr rule rules[] = {
    {.at = "/seed", .is = rule::kind::supply, .when = rule::under::seeded},
};
constexpr rule native_rules[] = {
    {.at = "/parameters/seed", .is = rule::kind::supply, .when = rule::under::seeded},
    {.at = "/parameters/best_of", .is = rule::kind::forbid, .same = {"1"}, .when = rule::under::seeded},
};

constexpr request_form forms[] = {
    {.dialects = "openai.chat|openai.completions", .rules = rules, .seed = "/seed"},
    {.dialects = "tgi.generate|tgi.generate_stream|tgi.root", .rules = native_rules, .seed = "/parameters/seed"},
};

constexpr fact_source info_facts[] = {
    {"engine_version", "/version"}, {"build", "/sha"},         {"image", "/docker_label"},   {"model", "/model_id"},
    {"revision", "/model_sha"},     {"dtype", "/model_dtype"}, {"gpu", "/model_device_type"}};
constexpr probe endpoints[] = {{.path = "/info", .facts = info_facts}};
constexpr std::string_view unreadable[] = {"weights_sha256", "tokenizer_sha256", "chat_template_sha256",
                                           "quantization",   "tensor_parallel",  "driver"};

}  // namespace

// Prefix caching is turned off for the whole server (PREFIX_CACHING=0) or not at all, and no answer says which.
constinit const profile tgi{
    .name = "tgi",
    .stream_options = true,
    .models = true,
    .seeds = true,
    .requests = forms,
    .probes = {.facts = endpoints, .health = "/health", .fingerprint = true, .unreadable = unreadable},
    .evidence =
        "read from source: text-generation-inference 3.3, router/src/validation.rs, router/src/lib.rs, "
        "server/text_generation_server/utils/tokens.py",
};

}  // namespace idem::upstream::engine
