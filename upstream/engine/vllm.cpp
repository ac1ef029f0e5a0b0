#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

namespace {

using rule = request_rule;
using enum rule::kind;
constexpr auto both = rule::under::both;
constexpr auto seeded = rule::under::seeded;

// A temperature below 1e-5 is greedy, one from there to 0.01 is raised to that. Of what a request leaves out the
// model's generation_config.json decides, so all of it is said; penalties work on greedy decoding too. A `seed` of -1
// is none. What is forbidden schedules, carries keys and values of another request, or brings a template, which may
// read the clock.
constexpr rule sampling[] = {
    {.at = "/temperature", .is = set, .value = "0", .same_below = 1e-5},
    {.at = "/temperature", .is = apart, .value = "0.01", .same_below = 1e-5, .when = seeded},
    {.at = "/top_p", .is = neutralise, .value = "1"},
    {.at = "/top_k", .is = neutralise, .value = "0", .same = {"-1"}},
    {.at = "/min_p", .is = neutralise, .value = "0"},
    {.at = "/repetition_penalty", .is = neutralise, .value = "1"},
    {.at = "/presence_penalty", .is = neutralise, .value = "0"},
    {.at = "/frequency_penalty", .is = neutralise, .value = "0"},
    {.at = "/n", .is = set, .value = "1"},
    {.at = "/seed", .is = supply, .value = "0", .same = {"-1"}, .least = std::numeric_limits<std::int64_t>::min()},
    {.at = "/seed", .is = supply, .same = {"-1"}, .least = std::numeric_limits<std::int64_t>::min(), .when = seeded},
    {.at = "/use_beam_search", .is = forbid, .same = {"false"}, .when = both},
    {.at = "/best_of", .is = forbid, .same = {"1"}, .when = both},
    {.at = "/priority", .is = forbid, .same = {"0"}, .when = both},
    {.at = "/kv_transfer_params", .is = forbid, .when = both},
    {.at = "/ec_transfer_params", .is = forbid, .when = both},
    {.at = "/vllm_xargs", .is = forbid, .same = {"{}"}, .when = both},
    {.at = "/chat_template", .is = forbid, .when = both},
    {.at = "/prompt", .is = single},
    {.at = "/messages", .is = turns, .when = both},
};

// Members of ChatCompletionRequest and CompletionRequest.
constexpr std::string_view known[] = {
    "/model", "/max_tokens", "/max_completion_tokens", "/stop", "/suffix", "/echo",
    // what the model reads
    "/tools", "/tool_choice", "/parallel_tool_calls", "/functions", "/function_call", "/documents",
    "/chat_template_kwargs", "/reasoning_effort", "/include_reasoning", "/thinking_token_budget",
    "/add_generation_prompt", "/continue_final_message", "/add_special_tokens", "/mm_processor_kwargs",
    "/media_io_kwargs", "/truncate_prompt_tokens", "/truncation_side", "/prompt_embeds",
    // what it may say
    "/response_format", "/structured_outputs", "/structural_tag", "/guided_json", "/guided_regex", "/guided_choice",
    "/guided_grammar", "/guided_decoding_backend", "/guided_whitespace_pattern", "/logit_bias", "/allowed_token_ids",
    "/bad_words", "/stop_token_ids", "/min_tokens", "/ignore_eos", "/length_penalty",
    // what is shown of it
    "/logprobs", "/top_logprobs", "/prompt_logprobs", "/logprob_token_ids", "/include_stop_str_in_output",
    "/skip_special_tokens", "/spaces_between_special_tokens", "/return_token_ids", "/return_prompt_text",
    "/return_tokens_as_token_ids",
    // of OpenAI's API, and ignored
    "/service_tier", "/modalities", "/verbosity"};

constexpr request_form forms[] = {
    {.dialects = "openai.chat|openai.completions",
     .rules = sampling,
     .strict = true,
     .seed = "/seed",
     .salt = "/cache_salt",
     .known = known},
};

// GET /server_info is there in development mode alone (VLLM_SERVER_DEV_MODE=1), on a listener that must not be public.
// `system_fingerprint` covers version, parallelism and compute graph, neither weights nor hardware: a change of it says
// much, that it stays says little.
constexpr fact_source version_facts[] = {{"engine_version", "/version"}};
constexpr fact_source model_facts[] = {{"model", "/data/*/root"}, {"context_length", "/data/0/max_model_len"}};
constexpr fact_source server_facts[] = {{"batch_invariant", "/vllm_env/VLLM_BATCH_INVARIANT"},
                                        {"dtype", "/vllm_config/model_config/dtype"},
                                        {"quantization", "/vllm_config/model_config/quantization"},
                                        {"tensor_parallel", "/vllm_config/parallel_config/tensor_parallel_size"},
                                        {"prefix_caching", "/vllm_config/cache_config/enable_prefix_caching"},
                                        {"gpu", "/system_env/nvidia_gpu_models"},
                                        {"driver", "/system_env/nvidia_driver_version"},
                                        {"torch", "/system_env/torch_version"}};
constexpr probe endpoints[] = {{.path = "/version", .facts = version_facts},
                               {.path = "/v1/models", .facts = model_facts},
                               {.path = "/server_info?config_format=json", .facts = server_facts}};
constexpr std::string_view unreadable[] = {"weights_sha256", "tokenizer_sha256", "chat_template_sha256",
                                           "attention_backend"};

}  // namespace

constinit const profile vllm{
    .name = "vllm",
    .stream_options = true,
    .models = true,
    .strict = true,
    .seeds = true,
    .requests = forms,
    .reset = "a fresh random cache_salt with each call, so that no cached prefix is used",
    .batch_invariant = true,
    .probes = {.facts = endpoints, .health = "/health", .fingerprint = true, .unreadable = unreadable},
    .evidence =
        "read from source: vLLM 0.33, vllm/sampling_params.py (SamplingParams.__post_init__, _verify_args), "
        "vllm/entrypoints/openai (to_sampling_params, StreamOptions, cache_salt; /v1/models route)",
};

}  // namespace idem::upstream::engine
