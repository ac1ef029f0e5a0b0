#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

namespace {

using rule = request_rule;
using enum rule::kind;
constexpr auto both = rule::under::both;
constexpr auto seeded = rule::under::seeded;

/// Of 32 bits; larger numbers lose their upper ones.
constexpr std::int64_t largest = 4294967294;

// The server's own flags may set any of these, so all are said. A seed of -1 is a random one, and so is its unsigned
// spelling. `samplers` may leave out the temperature, and with it greedy decoding. What is forbidden stops by the
// clock, changes adapters, or reuses what another request left in the slot.
constexpr rule sampling[] = {
    {.at = "/temperature", .is = set, .value = "0"},
    {.at = "/top_k", .is = set, .value = "1"},
    {.at = "/top_p", .is = neutralise, .value = "1"},
    {.at = "/min_p", .is = neutralise, .value = "0"},
    {.at = "/typical_p", .is = neutralise, .value = "1"},
    {.at = "/repeat_penalty", .is = neutralise, .value = "1"},
    {.at = "/presence_penalty", .is = neutralise, .value = "0"},
    {.at = "/frequency_penalty", .is = neutralise, .value = "0"},
    {.at = "/dry_multiplier", .is = neutralise, .value = "0"},
    {.at = "/xtc_probability", .is = neutralise, .value = "0"},
    {.at = "/mirostat", .is = neutralise, .value = "0"},
    {.at = "/dynatemp_range", .is = neutralise, .value = "0"},
    {.at = "/seed", .is = supply, .value = "0", .same = {"-1", "4294967295"}, .most = largest},
    {.at = "/seed", .is = supply, .same = {"-1", "4294967295"}, .most = largest, .when = seeded},
    {.at = "/cache_prompt", .is = set, .value = "false"},
    {.at = "/id_slot", .is = set, .value = "0"},
    {.at = "/samplers", .is = forbid, .same = {R"(["temperature"])"}},
    {.at = "/n", .is = forbid, .same = {"1"}},
    {.at = "/n_cmpl", .is = forbid, .same = {"1"}},
    {.at = "/n_cache_reuse", .is = forbid, .same = {"0"}, .when = both},
    {.at = "/t_max_predict_ms", .is = forbid, .same = {"0", "-1"}, .when = both},
    {.at = "/lora", .is = forbid, .same = {"[]"}, .when = both},
    {.at = "/prompt", .is = single},
    {.at = "/messages", .is = turns, .when = both},
};

// What tools/server reads of a body. Not `speculative.*`: a draft model joins the batch.
constexpr std::string_view known[] = {
    "/model", "/max_tokens", "/max_completion_tokens", "/n_predict", "/n_indent", "/n_keep", "/n_discard", "/stop",
    "/suffix", "/echo",
    // what the model reads
    "/input_prefix", "/input_suffix", "/input_extra", "/tools", "/tool_choice", "/parallel_tool_calls", "/functions",
    "/function_call", "/chat_template_kwargs", "/reasoning_effort", "/reasoning_format", "/thinking_forced_open",
    "/reasoning_in_content", "/reasoning_budget", "/thinking_budget_tokens", "/add_generation_prompt",
    // what it may say
    "/response_format", "/json_schema", "/grammar", "/grammar_lazy", "/grammar_triggers", "/preserved_tokens",
    "/chat_format", "/parse_tool_calls", "/logit_bias", "/ignore_eos", "/repeat_last_n", "/min_keep",
    // of samplers that the rules turn off
    "/dynatemp_exponent", "/top_n_sigma", "/xtc_threshold", "/dry_base", "/dry_allowed_length", "/dry_penalty_last_n",
    "/dry_sequence_breakers", "/mirostat_tau", "/mirostat_eta",
    // what is shown of it
    "/logprobs", "/top_logprobs", "/n_probs", "/post_sampling_probs", "/return_tokens", "/timings_per_token",
    "/return_progress", "/response_fields", "/verbose",
    // of OpenAI's API, and ignored
    "/service_tier", "/modalities", "/verbosity"};

constexpr request_form forms[] = {
    {.dialects = "openai.chat|openai.completions|llamacpp.completion|llamacpp.infill",
     .rules = sampling,
     .strict = true,
     .seed = "/seed",
     .known = known},
};

// `media_marker` of /props is random in each process, and its sampling settings follow the last request.
constexpr fact_source props_facts[] = {{"engine_version", "/build_info"},
                                       {"model", "/model_path"},
                                       {"chat_template_sha256", "/chat_template", true},
                                       {"slots", "/total_slots"},
                                       {"context_length", "/default_generation_settings/n_ctx"}};
constexpr fact_source model_facts[] = {{"parameters", "/data/0/meta/n_params"},
                                       {"model_bytes", "/data/0/meta/size"},
                                       {"vocabulary", "/data/0/meta/n_vocab"}};
constexpr fact_source adapter_facts[] = {{"adapters", "", true}};
constexpr probe endpoints[] = {{.path = "/props", .facts = props_facts},
                               {.path = "/v1/models", .facts = model_facts},
                               {.path = "/lora-adapters", .facts = adapter_facts}};
constexpr std::string_view unreadable[] = {"weights_sha256", "tokenizer_sha256", "dtype", "quantization", "gpu",
                                           "driver"};

}  // namespace

constinit const profile llamacpp{
    .name = "llamacpp",
    .stream_options = true,
    .models = true,
    .strict = true,
    .seeds = true,
    .requests = forms,
    .reset = "cache_prompt is false and the slot fixed, so that the whole prompt is computed each time",
    .probes = {.facts = endpoints, .health = "/health", .fingerprint = true, .unreadable = unreadable},
    .evidence =
        "tried against llama.cpp b11434 (llama-server): chat, completions and /completion take every rule and repeat; "
        "read from source: tools/server/README.md, tools/server/server-task.cpp (params_from_json_cmpl), "
        "common/sampling.cpp, tools/server/server.cpp (stream_options, /v1/models)",
};

}  // namespace idem::upstream::engine
