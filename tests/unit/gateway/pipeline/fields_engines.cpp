// Fields of the native APIs of llama.cpp, SGLang and TGI, and of what several engines share.
#include "tests/unit/gateway/pipeline/fields.hpp"

namespace idem::gateway::pipeline::fields {
namespace {

constexpr std::string_view completion_body =
    R"({"prompt":"Once","json_schema":{"type":"object","title":"t"},"logit_bias":[[1,0.5]],"lora":[{"id":0,"scale":0.5}]})";

constexpr counted completion_counts[] = {
    {"/model", R"("m")", R"("n")"},
    {"/prompt", R"("once")", R"(["Once"])"},
    {"/temperature", "0", "0.5"},
    {"/dynatemp_range", "1", "2"},
    {"/dynatemp_exponent", "2", "3"},
    {"/top_k", "1", "2"},
    {"/top_p", "0.5", "0.6"},
    {"/min_p", "0.5", "0.6"},
    {"/typical_p", "0.5", "0.6"},
    {"/xtc_probability", "0.5", "0.6"},
    {"/xtc_threshold", "0.5", "0.6"},
    {"/dry_multiplier", "0.5", "0.6"},
    {"/dry_sequence_breakers", R"(["a"])", R"(["b"])"},
    {"/mirostat", "1", "2"},
    {"/mirostat_tau", "1", "2"},
    {"/repeat_penalty", "1.1", "1.2"},
    {"/repeat_last_n", "1", "2"},
    {"/samplers", R"(["top_k","min_p"])", R"(["min_p","top_k"])"},
    {"/seed", "1", "-1"},
    {"/grammar", R"("a")", R"("b")"},
    {"/json_schema", "{}", R"({"title":"t","type":"object"})"},
    {"/logit_bias/0/1", "false", "1"},
    {"/n_predict", "1", "2"},
    {"/n_indent", "1", "2"},
    {"/n_keep", "1", "2"},
    {"/n_cmpl", "1", "2"},
    {"/n_probs", "1", "2"},
    {"/min_keep", "1", "2"},
    {"/stop", R"(["a"])", R"(["b"])"},
    {"/ignore_eos", "true", "false"},
    {"/post_sampling_probs", "true", "false"},
    {"/return_tokens", "true", "false"},
    {"/response_fields", R"(["content"])", R"(["content","stop"])"},
    {"/lora/0/scale", "1", "0"},
    {"/t_max_predict_ms", "0", "-1"},
    {"/cache_salt", R"("a")", R"("b")"},  // not a member that llama.cpp knows
};

constexpr ignored completion_ignores[] = {
    {"/stream", "true", "false"},          {"/id_slot", "0", "-1"},
    {"/cache_prompt", "true", "false"},    {"/n_cache_reuse", "1", "2"},
    {"/return_progress", "true", "false"}, {"/timings_per_token", "true", "false"},
    {"/sse_ping_interval", "1", "2"},      {"/cache", R"({"no-cache":true})", "{}"},
};

constexpr bypassing completion_bypasses[] = {
    {"/t_max_predict_ms", "100", reason::time_dependent_call},
    {"/n_predict", "0", reason::no_generation},
};

constexpr std::string_view completion_ordered[] = {"/json_schema"};

constexpr std::string_view infill_body =
    R"({"input_prefix":"a","input_suffix":"b","input_extra":[{"filename":"f","text":"t"}],"prompt":"c","json_schema":{"type":"object","title":"t"}})";

constexpr counted infill_counts[] = {
    {"/input_prefix", R"("A")", R"("")"},
    {"/input_suffix", R"("B")", R"("")"},
    {"/input_extra/0/text", R"("T")", R"("")"},
    {"/input_extra/0/filename", R"("F")", R"("")"},
    {"/prompt", R"("C")", R"("")"},
    {"/temperature", "0", "0.5"},
};

constexpr std::string_view embedding_body = R"({"content":["a","b"]})";

constexpr counted embedding_counts[] = {
    {"/content", R"("a")", R"(["b","a"])"},
    {"/input", R"("x")", R"("y")"},
    {"/embd_normalize", "1", "2"},
    {"/model", R"("m")", R"("n")"},
};

constexpr ignored embedding_ignores[] = {{"/user", R"("a")", R"("b")"}, {"/cache", R"({"no-cache":true})", "{}"}};

constexpr std::string_view rerank_body = R"({"query":"q","documents":["a",{"text":"b","title":"c"}]})";

constexpr counted rerank_counts[] = {
    {"/model", R"("m")", R"("n")"}, {"/query", R"("Q")", R"("")"},          {"/documents", R"(["a"])", R"(["b"])"},
    {"/top_n", "1", "2"},           {"/return_documents", "true", "false"},
};

constexpr ignored rerank_ignores[] = {
    {"/user", R"("a")", R"("b")"},       {"/cache", R"({"no-cache":true})", "{}"},
    {"/request_id", R"("a")", R"("b")"}, {"/priority", "1", "2"},
    {"/rid", R"("a")", R"("b")"},
};

constexpr std::string_view tokenize_body = R"({"content":"a","chat_template_kwargs":{"b":1,"a":2}})";

constexpr counted tokenize_counts[] = {
    {"/content", R"("A")", R"("")"},          {"/prompt", R"("A")", R"("")"},
    {"/model", R"("m")", R"("n")"},           {"/add_special", "true", "false"},
    {"/parse_special", "true", "false"},      {"/with_pieces", "true", "false"},
    {"/add_special_tokens", "true", "false"}, {"/return_token_strs", "true", "false"},
    {"/inputs", R"("A")", R"("")"},
};

constexpr ignored tokenize_ignores[] = {{"/request_id", R"("a")", R"("b")"}, {"/cache", R"({"no-cache":true})", "{}"}};

constexpr std::string_view tokenize_ordered[] = {"/chat_template_kwargs"};

constexpr std::string_view sglang_body =
    R"({"text":"Once","sampling_params":{"temperature":1,"top_p":0.9,"custom_params":{"b":1,"a":2}}})";

constexpr counted sglang_counts[] = {
    {"/text", R"("once")", R"(["Once"])"},
    {"/input_ids", "[1]", "[2]"},
    {"/image_data", R"("a")", R"("b")"},
    {"/sampling_params/temperature", "0", "0.5"},
    {"/sampling_params/max_new_tokens", "1", "2"},
    {"/sampling_params/n", "1", "2"},
    {"/sampling_params/sampling_seed", "1", "2"},
    {"/sampling_params/regex", R"("a")", R"("b")"},
    {"/sampling_params/ebnf", R"("a")", R"("b")"},
    {"/sampling_params/json_schema", R"("a")", R"("b")"},
    {"/sampling_params/stop", R"(["a"])", R"(["b"])"},
    {"/sampling_params/custom_params", R"({"a":2,"b":1})", "{}"},
    {"/return_logprob", "true", "false"},
    {"/logprob_start_len", "1", "2"},
    {"/top_logprobs_num", "1", "2"},
    {"/return_text_in_logprobs", "true", "false"},
    {"/lora_path", R"("a")", R"("b")"},
    {"/custom_logit_processor", R"("a")", R"("b")"},
};

constexpr ignored sglang_ignores[] = {
    {"/stream", "true", "false"},
    {"/cache", R"({"no-cache":true})", "{}"},
    {"/rid", R"("a")", R"("b")"},
    {"/session_id", R"("a")", R"("b")"},
    {"/priority", "1", "2"},
    {"/bootstrap_host", R"("a")", R"("b")"},
    {"/bootstrap_port", "1", "2"},
    {"/bootstrap_room", "1", "2"},
    {"/routed_dp_rank", "1", "2"},
    {"/data_parallel_rank", "1", "2"},
    {"/disagg_prefill_dp_rank", "1", "2"},
};

constexpr bypassing sglang_bypasses[] = {
    {"/session_params", R"({"id":"s"})", reason::stateful_call},
    {"/return_hidden_states", "true", reason::entry_too_large},
    {"/return_routed_experts", "true", reason::entry_too_large},
    {"/text", "null", reason::not_cacheable_path},
};

constexpr std::string_view sglang_ordered[] = {"/sampling_params/custom_params"};

constexpr std::string_view tenants[] = {"/cache_salt", "/extra_key"};

constexpr std::string_view tgi_body =
    R"({"inputs":"Once","parameters":{"top_k":5,"grammar":{"type":"json","value":{"title":"t","type":"object"}}}})";

constexpr counted tgi_counts[] = {
    {"/inputs", R"("once")", R"("Once ")"},
    {"/parameters/adapter_id", R"("a")", R"("b")"},
    {"/parameters/best_of", "1", "2"},
    {"/parameters/decoder_input_details", "true", "false"},
    {"/parameters/details", "true", "false"},
    {"/parameters/do_sample", "true", "false"},
    {"/parameters/frequency_penalty", "0.1", "0.2"},
    {"/parameters/grammar", R"({"value":{"title":"t","type":"object"},"type":"json"})", "null"},
    {"/parameters/max_new_tokens", "1", "2"},
    {"/parameters/repetition_penalty", "1.1", "1.2"},
    {"/parameters/return_full_text", "true", "false"},
    {"/parameters/seed", "1", "2"},
    {"/parameters/stop", R"(["a"])", R"(["b"])"},
    {"/parameters/temperature", "0.1", "0.2"},
    {"/parameters/top_k", "1", "2"},
    {"/parameters/top_n_tokens", "1", "2"},
    {"/parameters/top_p", "0.1", "0.2"},
    {"/parameters/truncate", "1", "2"},
    {"/parameters/typical_p", "0.1", "0.2"},
    {"/parameters/watermark", "true", "false"},
};

constexpr counted tgi_path_counts[] = {{"/stream", "true", "false"}, {"/inputs", R"("once")", R"("Once ")"}};

constexpr ignored tgi_ignores[] = {{"/cache", R"({"no-cache":true})", "{}"}};
constexpr ignored tgi_root_ignores[] = {{"/stream", "true", "false"}, {"/cache", R"({"no-cache":true})", "{}"}};

constexpr bypassing tgi_bypasses[] = {{"/inputs", R"("")", reason::not_cacheable_path}};

constexpr std::string_view tgi_ordered[] = {"/parameters/grammar"};

constexpr table all[] = {
    {"llamacpp.completion",
     "/completion",
     completion_body,
     completion_counts,
     completion_ignores,
     completion_bypasses,
     completion_ordered,
     {},
     reason::none,
     {},
     false},
    {"llamacpp.infill",
     "/infill",
     infill_body,
     infill_counts,
     completion_ignores,
     completion_bypasses,
     completion_ordered,
     {},
     reason::none,
     {},
     false},
    {"llamacpp.embedding",
     "/embedding",
     embedding_body,
     embedding_counts,
     embedding_ignores,
     {},
     {},
     {},
     reason::none,
     {},
     false},
    {"rerank", "/rerank", rerank_body, rerank_counts, rerank_ignores, {}, {}, {}, reason::none, tenants, false},
    {"tokenize",
     "/tokenize",
     tokenize_body,
     tokenize_counts,
     tokenize_ignores,
     {},
     tokenize_ordered,
     {},
     reason::none,
     {},
     false},
    {"sglang.generate",
     "/generate",
     sglang_body,
     sglang_counts,
     sglang_ignores,
     sglang_bypasses,
     sglang_ordered,
     {},
     reason::none,
     tenants,
     false},
    {"tgi.generate",
     "/generate",
     tgi_body,
     tgi_counts,
     tgi_ignores,
     tgi_bypasses,
     tgi_ordered,
     {},
     reason::none,
     {},
     false},
    {"tgi.generate_stream",
     "/generate_stream",
     tgi_body,
     tgi_path_counts,
     tgi_ignores,
     tgi_bypasses,
     tgi_ordered,
     {},
     reason::none,
     {},
     false},
    {"tgi.root", "/", tgi_body, tgi_counts, tgi_root_ignores, tgi_bypasses, tgi_ordered, {}, reason::none, {}, false},
};

}  // namespace

std::span<const table> engines() {
    return all;
}

}  // namespace idem::gateway::pipeline::fields
