#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

namespace {

using rule = request_rule;
using enum rule::kind;
constexpr auto both = rule::under::both;
constexpr auto seeded = rule::under::seeded;

// A temperature below 1e-6 is greedy. Of what a request leaves out the model's generation_config.json decides. Without
// a seed the deterministic mode samples everybody's request with 42, and several choices of one seed are all alike.
// What is forbidden runs code of the caller's, picks a worker or an adapter, or continues another request's state.
constexpr rule openai_rules[] = {
    {.at = "/temperature", .is = set, .value = "0", .same_below = 1e-6},
    {.at = "/top_p", .is = neutralise, .value = "1"},
    {.at = "/top_k", .is = neutralise, .value = "-1"},
    {.at = "/min_p", .is = neutralise, .value = "0"},
    {.at = "/repetition_penalty", .is = neutralise, .value = "1"},
    {.at = "/presence_penalty", .is = neutralise, .value = "0"},
    {.at = "/frequency_penalty", .is = neutralise, .value = "0"},
    {.at = "/n", .is = set, .value = "1"},
    {.at = "/n", .is = forbid, .same = {"1"}, .when = seeded},
    {.at = "/seed", .is = supply, .value = "0"},
    {.at = "/seed", .is = supply, .when = seeded},
    {.at = "/best_of", .is = forbid, .same = {"1"}, .when = both},
    {.at = "/custom_logit_processor", .is = forbid, .when = both},
    {.at = "/lora_path", .is = forbid, .when = both},
    {.at = "/session_params", .is = forbid, .when = both},
    {.at = "/priority", .is = forbid, .same = {"0"}, .when = both},
    {.at = "/routed_dp_rank", .is = forbid, .when = both},
    {.at = "/data_parallel_rank", .is = forbid, .when = both},
    {.at = "/bootstrap_host", .is = forbid, .when = both},
    {.at = "/bootstrap_port", .is = forbid, .when = both},
    {.at = "/bootstrap_room", .is = forbid, .when = both},
    {.at = "/prompt", .is = single},
    {.at = "/messages", .is = turns, .when = both},
};

// The same of /generate, whose sampling has an object of its own.
constexpr rule native_rules[] = {
    {.at = "/sampling_params/temperature", .is = set, .value = "0", .same_below = 1e-6},
    {.at = "/sampling_params/top_p", .is = neutralise, .value = "1"},
    {.at = "/sampling_params/top_k", .is = neutralise, .value = "-1"},
    {.at = "/sampling_params/min_p", .is = neutralise, .value = "0"},
    {.at = "/sampling_params/repetition_penalty", .is = neutralise, .value = "1"},
    {.at = "/sampling_params/presence_penalty", .is = neutralise, .value = "0"},
    {.at = "/sampling_params/frequency_penalty", .is = neutralise, .value = "0"},
    {.at = "/sampling_params/n", .is = set, .value = "1"},
    {.at = "/sampling_params/n", .is = forbid, .same = {"1"}, .when = seeded},
    {.at = "/sampling_params/sampling_seed", .is = supply, .value = "0"},
    {.at = "/sampling_params/sampling_seed", .is = supply, .when = seeded},
    {.at = "/custom_logit_processor", .is = forbid, .when = both},
    {.at = "/lora_path", .is = forbid, .when = both},
    {.at = "/session_params", .is = forbid, .when = both},
    {.at = "/priority", .is = forbid, .same = {"0"}, .when = both},
    {.at = "/routed_dp_rank", .is = forbid, .when = both},
    {.at = "/data_parallel_rank", .is = forbid, .when = both},
    {.at = "/bootstrap_host", .is = forbid, .when = both},
    {.at = "/bootstrap_port", .is = forbid, .when = both},
    {.at = "/bootstrap_room", .is = forbid, .when = both},
    {.at = "/text", .is = single},
    {.at = "/input_ids", .is = single},
};

// Members of ChatCompletionRequest and CompletionRequest; then of GenerateReqInput and SamplingParams.
constexpr std::string_view openai_known[] = {
    "/model", "/max_tokens", "/max_completion_tokens", "/stop", "/suffix", "/echo",
    // what the model reads
    "/input_ids", "/tools", "/tool_choice", "/parallel_tool_calls", "/functions", "/function_call",
    "/chat_template_kwargs", "/reasoning_effort", "/add_generation_prompt", "/continue_final_message", "/documents",
    "/images_config", "/task",
    // what it may say
    "/response_format", "/json_schema", "/regex", "/ebnf", "/structural_tag", "/logit_bias", "/stop_token_ids",
    "/stop_regex", "/min_tokens", "/ignore_eos",
    // what is shown of it
    "/logprobs", "/top_logprobs", "/no_stop_trim", "/skip_special_tokens", "/separate_reasoning", "/stream_reasoning",
    "/return_token_ids", "/return_meta_info", "/return_cached_tokens_details", "/custom_labels",
    // of OpenAI's API, and ignored
    "/service_tier", "/modalities", "/verbosity"};
constexpr std::string_view native_known[] = {

    "/model",

    "/image_data",
    "/video_data",
    "/audio_data",
    "/return_logprob",
    "/logprob_start_len",
    "/top_logprobs_num",
    "/token_ids_logprob",
    "/return_text_in_logprobs",
    "/return_token_ids",
    "/custom_labels",
    "/sampling_params/max_new_tokens",
    "/sampling_params/min_new_tokens",
    "/sampling_params/stop",
    "/sampling_params/stop_token_ids",
    "/sampling_params/stop_regex",
    "/sampling_params/json_schema",
    "/sampling_params/regex",
    "/sampling_params/ebnf",
    "/sampling_params/structural_tag",
    "/sampling_params/ignore_eos",
    "/sampling_params/skip_special_tokens",
    "/sampling_params/spaces_between_special_tokens",
    "/sampling_params/no_stop_trim",
    "/sampling_params/logit_bias",
    "/sampling_params/stream_interval"};

constexpr request_form forms[] = {
    {.dialects = "openai.chat|openai.completions",
     .rules = openai_rules,
     .strict = true,
     .seed = "/seed",
     .salt = "/cache_salt",
     .known = openai_known},
    {.dialects = "sglang.generate",
     .rules = native_rules,
     .strict = true,
     .seed = "/sampling_params/sampling_seed",
     .salt = "/extra_key",
     .known = native_known},
};

// /server_info is the record of the start; which weights are loaded now /model_info tells. /health lets the engine
// generate a token, beside whatever else it computes.
constexpr fact_source server_facts[] = {{"engine_version", "/version"},
                                        {"dtype", "/dtype"},
                                        {"quantization", "/quantization"},
                                        {"kv_cache_dtype", "/kv_cache_dtype"},
                                        {"tensor_parallel", "/tp_size"},
                                        {"attention_backend", "/attention_backend"},
                                        {"batch_invariant", "/enable_deterministic_inference"},
                                        {"prefix_caching_off", "/disable_radix_cache"},
                                        {"chunked_prefill_size", "/chunked_prefill_size"},
                                        {"page_size", "/page_size"},
                                        {"random_seed", "/random_seed"}};
constexpr fact_source model_facts[] = {
    {"model", "/model_path"}, {"tokenizer", "/tokenizer_path"}, {"weight_version", "/weight_version"}};
constexpr probe endpoints[] = {{.path = "/server_info", .older = "/get_server_info", .facts = server_facts},
                               {.path = "/model_info", .older = "/get_model_info", .facts = model_facts}};
constexpr std::string_view unreadable[] = {"weights_sha256", "tokenizer_sha256", "chat_template_sha256", "gpu",
                                           "driver"};

}  // namespace

constinit const profile sglang{
    .name = "sglang",
    .stream_options = true,
    .models = true,
    .strict = true,
    .seeds = true,
    .requests = forms,
    .reset = "a fresh random cache_salt (of /generate: extra_key) with each call, so that no cached prefix is used",
    .batch_invariant = true,
    .no_mixing = true,  // the sampler is chosen for a whole batch (is_all_greedy)
    // srt/entrypoints/http_server.py offers these under GET as well as POST.
    .controls =
        "/flush_cache|/start_profile|/stop_profile|/start_expert_distribution_record|"
        "/stop_expert_distribution_record|/dump_expert_distribution_record|/clear_hicache_storage_backend|"
        "/release_memory_occupation|/resume_memory_occupation|/slow_down|/open_session|/close_session|"
        "/generate|/encode|/classify",
    .computing_reads = "/health|/health_generate",
    .probes = {.facts = endpoints, .health = "/v1/models", .slow_health = "/health", .unreadable = unreadable},
    .evidence =
        "read from source: SGLang 0.5.23, srt/sampling/sampling_params.py, srt/sampling/sampling_batch_info.py "
        "(is_all_greedy), srt/entrypoints/openai/protocol.py, srt/managers/io_struct.py (GenerateReqInput)",
};

}  // namespace idem::upstream::engine
