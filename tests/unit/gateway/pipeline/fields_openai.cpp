// Fields of OpenAI's chat completions, completions and embeddings, with those that vLLM and SGLang add.
#include "tests/unit/gateway/pipeline/fields.hpp"

namespace idem::gateway::pipeline::fields {
namespace {

constexpr std::string_view chat_body = R"({
    "model": "gpt-5", "temperature": 1, "n": 1,
    "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {"b": {}, "a": {}}}}}],
    "functions": [{"name": "g", "parameters": {"type": "object", "title": "t"}}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object", "title": "t"}}},
    "chat_template_kwargs": {"enable_thinking": true, "a": 1},
    "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "Look."},
                                     {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}}]},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "r"}]})";

constexpr counted chat_counts[] = {
    {"/model", R"("gpt-6")", R"("gpt-5 ")"},
    {"/messages", "[]", R"([{"role":"user","content":"Look."}])"},
    {"/messages/0/role", R"("developer")", R"("user")"},
    {"/messages/0/content", R"("Be kind. ")", R"("be kind.")"},
    {"/messages/0/name", R"("a")", R"("b")"},
    {"/messages/1/content/0/text", R"("Look!")", R"("")"},
    {"/messages/1/content/1/image_url/url", R"("data:image/png;base64,AAAB")", R"("https://example.com/a.png")"},
    {"/messages/1/content/1/image_url/detail", R"("high")", R"("auto")"},
    {"/messages/2/content", R"("")", R"("x")"},
    {"/messages/2/tool_calls/0/function/arguments", R"("{ }")", R"("")"},
    {"/messages/3/tool_call_id", R"("d")", R"("C")"},
    {"/tools", "[]", R"([{"type":"function","function":{"name":"f"}}])"},
    {"/tools/0/function/strict", "true", "false"},
    {"/tools/0/function/parameters/properties/user", R"({"type":"string"})", R"({"type":"number"})"},
    {"/tool_choice", R"("auto")", R"("none")"},
    {"/parallel_tool_calls", "true", "false"},
    {"/functions/0/name", R"("h")", R"("G")"},
    {"/function_call", R"("auto")", R"({"name":"g"})"},
    {"/response_format", R"({"type":"text"})", R"({"type":"json_object"})"},
    {"/temperature", "0", "0.0004"},
    {"/top_p", "0.9991", "0.9999"},
    {"/n", "2", "3"},
    {"/stop", R"("a")", R"(["a"])"},
    {"/max_tokens", "10", "11"},
    {"/max_completion_tokens", "10", "11"},
    {"/presence_penalty", "0", "-1"},
    {"/frequency_penalty", "0", "-1"},
    {"/logit_bias", R"({"1":5})", R"({"1":-5})"},
    {"/logprobs", "true", "false"},
    {"/top_logprobs", "1", "2"},
    {"/seed", "9007199254740992", "9007199254740993"},
    {"/reasoning_effort", R"("low")", R"("high")"},
    {"/verbosity", R"("low")", R"("high")"},
    {"/modalities", R"(["text"])", R"(["text","audio"])"},
    {"/audio", R"({"voice":"a"})", R"({"voice":"b"})"},
    {"/moderation", R"({"a":1})", R"({"a":2})"},
    {"/service_tier", R"("auto")", R"("flex")"},
    // engines
    {"/top_k", "1", "50"},
    {"/min_p", "0.1", "0.2"},
    {"/repetition_penalty", "1.1", "1.2"},
    {"/min_tokens", "1", "2"},
    {"/stop_token_ids", "[1]", "[2]"},
    {"/ignore_eos", "true", "false"},
    {"/bad_words", R"(["a"])", R"(["b"])"},
    {"/allowed_token_ids", "[1]", "[2]"},
    {"/prompt_logprobs", "1", "2"},
    {"/echo", "true", "false"},
    {"/add_generation_prompt", "true", "false"},
    {"/continue_final_message", "true", "false"},
    {"/chat_template", R"("a")", R"("b")"},
    {"/chat_template_kwargs/enable_thinking", "false", "null"},
    {"/structured_outputs", R"({"a":1,"b":2})", R"({"b":2,"a":1})"},
    {"/guided_regex", R"("a")", R"("b")"},
    {"/include_reasoning", "true", "false"},
    {"/return_token_ids", "true", "false"},
    {"/regex", R"("a")", R"("b")"},
    {"/ebnf", R"("a")", R"("b")"},
    {"/lora_path", R"("a")", R"("b")"},
    {"/separate_reasoning", "true", "false"},
    {"/stream_reasoning", "true", "false"},
    {"/length_penalty", "1.1", "1.2"},
    {"/include_stop_str_in_output", "true", "false"},
    {"/skip_special_tokens", "true", "false"},
    {"/spaces_between_special_tokens", "true", "false"},
    {"/truncate_prompt_tokens", "1", "2"},
    {"/truncation_side", R"("left")", R"("right")"},
    {"/logprob_token_ids", "[1]", "[2]"},
    {"/add_special_tokens", "true", "false"},
    {"/documents", R"([{"a":1,"b":2}])", R"([{"b":2,"a":1}])"},
    {"/media_io_kwargs", R"({"a":1})", R"({"a":2})"},
    {"/mm_processor_kwargs", R"({"a":1})", R"({"a":2})"},
    {"/guided_json", R"({"a":1,"b":2})", R"({"b":2,"a":1})"},
    {"/thinking_token_budget", "1", "2"},
    {"/use_beam_search", "true", "false"},
    {"/return_prompt_text", "true", "false"},
    {"/return_tokens_as_token_ids", "true", "false"},
    {"/vllm_xargs", R"({"a":1})", R"({"a":2})"},
    {"/stop_regex", R"("a")", R"("b")"},
    {"/no_stop_trim", "true", "false"},
    {"/custom_logit_processor", R"("a")", R"("b")"},
    {"/custom_params", R"({"a":1})", R"({"a":2})"},
    {"/task", R"("a")", R"("b")"},
    {"/input_ids", "[1]", "[2]"},
};

constexpr ignored chat_ignores[] = {
    {"/stream", "true", "false"},
    {"/stream_options", R"({"include_usage":true})", "{}"},
    {"/stream_interval", "1", "2"},
    {"/user", R"("a")", R"("b")"},
    {"/safety_identifier", R"("a")", R"("b")"},
    {"/metadata", R"({"a":"b"})", "{}"},
    {"/store", "false", "null"},
    {"/prompt_cache_key", R"("a")", R"("b")"},
    {"/prompt_cache_options", R"({"a":1})", "{}"},
    {"/prompt_cache_retention", R"("24h")", R"("in-memory")"},
    {"/messages/1/content/0/prompt_cache_breakpoint", "true", "false"},
    {"/prediction", R"({"type":"content","content":"x"})", "{}"},
    {"/cache", R"({"no-cache":true})", "{}"},
    {"/request_id", R"("a")", R"("b")"},
    {"/session_id", R"("a")", R"("b")"},
    {"/priority", "1", "2"},
    {"/kv_transfer_params", R"({"do_remote_decode":false})", "{}"},
    {"/ec_transfer_params", R"({"a":1})", "{}"},
    {"/return_mm_kwargs", "true", "false"},
    {"/rid", R"("a")", R"("b")"},
    {"/bootstrap_host", R"("a")", R"("b")"},
    {"/bootstrap_port", "1", "2"},
    {"/bootstrap_room", "1", "2"},
    {"/routed_dp_rank", "1", "2"},
    {"/data_parallel_rank", "1", "2"},
    {"/disagg_prefill_dp_rank", "1", "2"},
};

constexpr bypassing chat_bypasses[] = {
    {"/store", "true", reason::stateful_call},
    {"/session_params", R"({"id":"x"})", reason::stateful_call},
    {"/return_hidden_states", "true", reason::entry_too_large},
    {"/return_routed_experts", "true", reason::entry_too_large},
    {"/kv_transfer_params", R"({"do_remote_prefill":true})", reason::stateful_call},
    {"/web_search_options", "{}", reason::time_dependent_call},
    {"/search_parameters", R"({"mode":"on"})", reason::time_dependent_call},
    {"/model", R"("gpt-4o-search-preview")", reason::time_dependent_call},
    {"/model", R"("meta/llama:online")", reason::time_dependent_call},
};

constexpr std::string_view chat_ordered[] = {"/tools/0/function/parameters", "/functions/0/parameters",
                                             "/response_format/json_schema/schema", "/chat_template_kwargs"};

constexpr std::string_view completions_body =
    R"({"model":"m","prompt":"Once","response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object","title":"t"}}}})";

constexpr counted completions_counts[] = {
    {"/model", R"("n")", R"("M")"},
    {"/prompt", R"(["Once"])", "[1,2]"},
    {"/suffix", R"("a")", R"("b")"},
    {"/echo", "true", "false"},
    {"/best_of", "1", "2"},
    {"/n", "1", "2"},
    {"/logprobs", "0", "1"},
    {"/seed", "1", "2"},
    {"/stop", R"("a")", R"(["a"])"},
    {"/max_tokens", "10", "11"},
    {"/temperature", "0", "0.0004"},
    {"/top_p", "0.9991", "0.9999"},
    {"/presence_penalty", "0", "-1"},
    {"/frequency_penalty", "0", "-1"},
    {"/logit_bias", R"({"1":5})", R"({"1":-5})"},
    {"/top_k", "1", "50"},
    {"/structured_outputs", R"({"a":1,"b":2})", R"({"b":2,"a":1})"},
};

constexpr ignored completions_ignores[] = {
    {"/stream", "true", "false"},
    {"/stream_options", R"({"include_usage":true})", "{}"},
    {"/stream_interval", "1", "2"},
    {"/user", R"("a")", R"("b")"},
    {"/cache", R"({"no-cache":true})", "{}"},
    {"/request_id", R"("a")", R"("b")"},
    {"/session_id", R"("a")", R"("b")"},
    {"/priority", "1", "2"},
    {"/kv_transfer_params", R"({"do_remote_decode":false})", "{}"},
    {"/ec_transfer_params", R"({"a":1})", "{}"},
    {"/rid", R"("a")", R"("b")"},
    {"/data_parallel_rank", "1", "2"},
};

constexpr bypassing completions_bypasses[] = {
    {"/session_params", R"({"id":"x"})", reason::stateful_call},
    {"/return_hidden_states", "true", reason::entry_too_large},
    {"/kv_transfer_params", R"({"do_remote_prefill":true})", reason::stateful_call},
    {"/model", R"("perplexity/sonar-pro")", reason::time_dependent_call},
};

constexpr std::string_view completions_ordered[] = {"/response_format/json_schema/schema"};

constexpr std::string_view embeddings_body = R"({"model":"m","input":["a","b"],"chat_template_kwargs":{"b":1,"a":2}})";

constexpr counted embeddings_counts[] = {
    {"/model", R"("n")", R"("M")"},
    {"/input", R"("a")", R"(["b","a"])"},
    {"/input/0", R"("A")", R"("")"},
    {"/dimensions", "8", "9"},
    {"/encoding_format", R"("int8")", R"("ubinary")"},
    {"/output_dtype", R"("int8")", R"("float")"},
    {"/embed_dtype", R"("float16")", R"("bfloat16")"},
};

constexpr ignored embeddings_ignores[] = {
    {"/user", R"("a")", R"("b")"},
    {"/cache", R"({"no-cache":true})", "{}"},
    {"/request_id", R"("a")", R"("b")"},
    {"/priority", "1", "2"},
    {"/rid", R"("a")", R"("b")"},
    {"/data_parallel_rank", "1", "2"},
    {"/encoding_format", R"("float")", R"("base64")"},
};

constexpr std::string_view embeddings_ordered[] = {"/chat_template_kwargs"};

constexpr std::string_view headers[] = {"openai-beta"};
constexpr std::string_view tenants[] = {"/cache_salt", "/extra_key"};

constexpr table all[] = {
    {"openai.chat", "/v1/chat/completions", chat_body, chat_counts, chat_ignores, chat_bypasses, chat_ordered, headers,
     reason::none, tenants},
    {"openai.completions", "/v1/completions", completions_body, completions_counts, completions_ignores,
     completions_bypasses, completions_ordered, headers, reason::none, tenants},
    {"openai.embeddings",
     "/v1/embeddings",
     embeddings_body,
     embeddings_counts,
     embeddings_ignores,
     {},
     embeddings_ordered,
     headers,
     reason::none,
     tenants},
};

}  // namespace

std::span<const table> openai() {
    return all;
}

}  // namespace idem::gateway::pipeline::fields
