// Fields of OpenAI's responses, as the official SDKs declare them.
#include "tests/unit/gateway/pipeline/fields.hpp"

namespace idem::gateway::pipeline::fields {
namespace {

constexpr std::string_view body = R"({
    "model": "gpt-5", "instructions": "Be kind.", "store": false,
    "tools": [{"type": "function", "name": "f", "description": "d", "strict": true,
               "parameters": {"type": "object", "properties": {"b": {}, "a": {}}}},
              {"type": "custom", "name": "g", "format": {"type": "text"}},
              {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "h", "parameters": {"type": "object", "title": "t"}}]}],
    "text": {"verbosity": "low", "format": {"type": "json_schema", "name": "n", "schema": {"type": "object", "title": "t"}}},
    "reasoning": {"effort": "low", "summary": "auto"},
    "chat_template_kwargs": {"enable_thinking": true, "a": 1},
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Look."},
                                     {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "low"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
        {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "r"}]})";

constexpr counted counts[] = {
    {"/model", R"("gpt-6")", R"("gpt-5 ")"},
    {"/instructions", R"("Be kind. ")", R"("be kind.")"},
    {"/store", "true", "null"},
    {"/input", R"("Look.")", R"([{"role":"user","content":"Look."}])"},
    {"/input/0/role", R"("developer")", R"("system")"},
    {"/input/0/content", R"("Look.")", R"([{"type":"input_text","text":"Look."}])"},
    {"/input/0/content/0/text", R"("Look!")", R"("")"},
    {"/input/0/content/1/image_url", R"("data:image/png;base64,AAAB")", R"("https://example.com/a.png")"},
    {"/input/0/content/1/detail", R"("high")", R"("auto")"},
    {"/input/1/encrypted_content", R"("gBBB")", "null"},
    {"/input/2/id", R"("fc_2")", "null"},
    {"/input/2/arguments", R"("{ }")", R"("")"},
    {"/input/3/call_id", R"("d")", R"("C")"},
    {"/tools", "[]", R"([{"type":"function","name":"f"}])"},
    {"/tools/0/strict", "false", "null"},
    {"/tools/0/parameters/properties/user", R"({"type":"string"})", R"({"type":"number"})"},
    {"/tools/1/format", R"({"type":"grammar","syntax":"lark","definition":"a"})",
     R"({"type":"grammar","syntax":"regex","definition":"a"})"},
    {"/tool_choice", R"("auto")", R"("none")"},
    {"/parallel_tool_calls", "true", "false"},
    {"/text/verbosity", R"("high")", R"("medium")"},
    {"/text/format", R"({"type":"text"})", R"({"type":"json_object"})"},
    {"/reasoning/effort", R"("high")", R"("none")"},
    {"/reasoning/summary", R"("detailed")", "null"},
    {"/include", R"(["reasoning.encrypted_content"])", R"(["message.output_text.logprobs"])"},
    {"/temperature", "0", "0.0004"},
    {"/top_p", "0.9991", "0.9999"},
    {"/top_logprobs", "1", "2"},
    {"/max_output_tokens", "16", "17"},
    {"/max_tool_calls", "1", "2"},
    {"/truncation", R"("auto")", R"("disabled")"},
    {"/context_management", R"([{"type":"compaction"}])", "[]"},
    {"/image", R"({"a":1})", R"({"a":2})"},
    {"/moderation", R"({"a":1})", R"({"a":2})"},
    {"/access_programs", R"({"a":1})", R"({"a":2})"},
    {"/service_tier", R"("auto")", R"("flex")"},
    // engines
    {"/top_k", "1", "50"},
    {"/seed", "9007199254740992", "9007199254740993"},
    {"/structured_outputs", R"({"a":1,"b":2})", R"({"b":2,"a":1})"},
    {"/chat_template_kwargs/enable_thinking", "false", "null"},
};

constexpr ignored ignores[] = {
    {"/stream", "true", "false"},
    {"/stream_options", R"({"include_obfuscation":false})", "{}"},
    {"/user", R"("a")", R"("b")"},
    {"/safety_identifier", R"("a")", R"("b")"},
    {"/metadata", R"({"a":"b"})", "{}"},
    {"/client_metadata", R"({"a":"b"})", "{}"},
    {"/prompt_cache_key", R"("a")", R"("b")"},
    {"/prompt_cache_options", R"({"a":1})", "{}"},
    {"/prompt_cache_retention", R"("24h")", R"("in_memory")"},
    {"/input/0/content/0/prompt_cache_breakpoint", "true", "{}"},
    {"/cache", R"({"no-cache":true})", "{}"},
    {"/request_id", R"("a")", R"("b")"},
    {"/session_id", R"("a")", R"("b")"},
    {"/priority", "1", "2"},
    {"/rid", R"("a")", R"("b")"},
    {"/data_parallel_rank", "1", "2"},
};

constexpr bypassing bypasses[] = {
    {"/previous_response_id", R"("resp_1")", reason::stateful_call},
    {"/conversation", R"("conv_1")", reason::stateful_call},
    {"/conversation", R"({"id":"conv_1"})", reason::stateful_call},
    {"/background", "true", reason::stateful_call},
    {"/background_options", R"({"a":1})", reason::stateful_call},
    {"/prompt", R"({"id":"pmpt_1"})", reason::stateful_call},
    {"/input/3", R"({"type":"item_reference","id":"msg_1"})", reason::stateful_call},
    {"/input/3", R"({"type":"additional_tools","tools":[{"type":"web_search"}]})", reason::time_dependent_call},
    {"/tools/1", R"({"type":"web_search"})", reason::time_dependent_call},
    {"/tools/1", R"({"type":"web_search_preview"})", reason::time_dependent_call},
    {"/tools/1", R"({"type":"file_search","vector_store_ids":["vs_1"]})", reason::stateful_call},
    {"/tools/1", R"({"type":"code_interpreter","container":{"type":"auto"}})", reason::side_effecting_call},
    {"/tools/1", R"({"type":"computer"})", reason::side_effecting_call},
    {"/tools/1", R"({"type":"computer_use_preview"})", reason::side_effecting_call},
    {"/tools/1", R"({"type":"mcp","server_label":"s"})", reason::side_effecting_call},
    {"/tools/1", R"({"type":"image_generation"})", reason::side_effecting_call},
    {"/tools/1", R"({"type":"shell"})", reason::side_effecting_call},
    {"/tools/1", R"({"type":"local_shell"})", reason::side_effecting_call},
    {"/tools/1", R"({"type":"apply_patch"})", reason::side_effecting_call},
    {"/tools/1", R"({"type":"tool_search"})", reason::side_effecting_call},
    {"/tools/1", R"({"type":"programmatic_tool_calling"})", reason::side_effecting_call},
    {"/tools/1", R"({"type":"a_tool_of_next_year"})", reason::side_effecting_call},
    {"/model", R"("gpt-4o-search-preview")", reason::time_dependent_call},
};

constexpr std::string_view ordered[] = {"/tools/0/parameters", "/tools/2/tools/0/parameters", "/text/format/schema",
                                        "/chat_template_kwargs"};
constexpr std::string_view headers[] = {"openai-beta"};

constexpr table all[] = {
    {"openai.responses", "/v1/responses", body, counts, ignores, bypasses, ordered, headers},
};

}  // namespace

std::span<const table> openai_responses() {
    return all;
}

}  // namespace idem::gateway::pipeline::fields
