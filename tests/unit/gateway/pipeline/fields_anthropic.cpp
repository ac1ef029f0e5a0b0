// Fields of Anthropic's API, versions 2023-06-01 and 2026-10-21 with the beta fields, as the official SDKs declare
// them.
#include "tests/unit/gateway/pipeline/fields.hpp"

namespace idem::gateway::pipeline::fields {
namespace {

constexpr std::string_view body = R"({
    "model": "claude-5", "max_tokens": 64,
    "system": [{"type": "text", "text": "Be kind."}],
    "tools": [{"name": "f", "description": "d", "input_schema": {"type": "object", "properties": {"b": {}, "a": {}}},
               "input_examples": [{"b": 1, "a": 2}]},
              {"type": "bash_20250124", "name": "bash"}],
    "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object", "title": "t"}}},
    "messages": [
        {"role": "user", "content": [
            {"type": "text", "text": "Look."},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
            {"type": "tool_addition", "tool": {"type": "tool_definition", "definition":
                {"name": "g", "input_schema": {"type": "object", "title": "t"}}}}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "tool_use", "id": "t", "name": "f", "input": {"b": 1, "a": {"y": 1, "x": 2}}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "r"}]}]}]})";

constexpr counted counts[] = {
    {"/model", R"("claude-6")", R"("claude-5 ")"},
    {"/max_tokens", "65", "6.5e2"},
    {"/system", R"("Be kind.")", R"([{"type":"text","text":"Be kind"}])"},
    {"/system/0/text", R"("Be kind. ")", R"("be kind.")"},
    {"/messages", "[]", R"([{"role":"user","content":"Look."}])"},
    {"/messages/0/role", R"("system")", R"("assistant")"},
    {"/messages/0/content", R"("Look.")", R"([{"type":"text","text":"Look."}])"},
    {"/messages/0/content/0/text", R"("Look!")", R"("")"},
    {"/messages/0/content/1/source/data", R"("AAAB")", R"("")"},
    {"/messages/1/content/0/signature", R"("other")", "null"},
    {"/messages/1/content/1/id", R"("u")", R"("T")"},
    {"/messages/1/content/1/input", "{}", R"({"b":1,"a":{"y":1,"x":3}})"},
    {"/messages/1/content/1/input/cache_control", R"({"type":"ephemeral"})", "{}"},
    {"/messages/2/content/0/is_error", "true", "false"},
    {"/tools", "[]", R"([{"name":"f","input_schema":{}}])"},
    {"/tools/0/name", R"("g")", R"("F")"},
    {"/tools/0/description", R"("e")", "null"},
    {"/tools/0/input_schema/properties/cache_control", R"({"type":"string"})", R"({"type":"number"})"},
    {"/tools/0/strict", "true", "false"},
    {"/tools/0/defer_loading", "true", "false"},
    {"/tool_choice", R"({"type":"any"})", R"({"type":"tool","name":"f"})"},
    {"/stop_sequences", R"(["a"])", R"(["a","b"])"},
    {"/temperature", "0", "0.0004"},
    {"/top_p", "0.9991", "0.9999"},
    {"/top_k", "1", "50"},
    {"/thinking", R"({"type":"enabled","budget_tokens":1024})", R"({"type":"adaptive"})"},
    {"/output_config/effort", R"("high")", R"("max")"},
    {"/output_config/format/schema/title", R"("u")", R"("")"},
    {"/output_format", R"({"type":"json_schema","schema":{}})", R"({"type":"json_schema","schema":{"a":1}})"},
    {"/speed", R"("fast")", R"("standard")"},
    {"/inference_geo", R"("eu")", R"("us")"},
    {"/context_management", R"({"edits":[]})", R"({"edits":[{"type":"clear_tool_uses_20250919"}]})"},
    {"/compaction", R"({"type":"auto"})", R"({})"},
    {"/fallbacks", R"([{"model":"m"}])", "[]"},
    {"/diagnostics", R"({"previous_message_id":"msg_1"})", "{}"},
    {"/chat_template_kwargs", R"({"a":1,"b":2})", R"({"b":2,"a":1})"},
};

constexpr ignored ignores[] = {
    {"/stream", "true", "false"},
    {"/metadata", R"({"user_id":"u1"})", R"({"user_id":"u2"})"},
    {"/service_tier", R"("auto")", R"("standard_only")"},
    {"/billing_policy", R"({"type":"billing_policy"})", "null"},
    {"/fallback_credit_token", R"("token")", R"({"token":"t"})"},
    {"/cache", R"({"no-cache":true})", "{}"},
    {"/cache_control", R"({"type":"ephemeral"})", R"({"type":"ephemeral","ttl":"1h"})"},
    {"/system/0/cache_control", R"({"type":"ephemeral"})", "null"},
    {"/tools/0/cache_control", R"({"type":"ephemeral"})", "null"},
    {"/messages/0/content/0/cache_control", R"({"type":"ephemeral"})", "null"},
    {"/messages/1/content/1/cache_control", R"({"type":"ephemeral"})", "null"},
    {"/messages/2/content/0/cache_control", R"({"type":"ephemeral"})", "null"},
    {"/messages/2/content/0/content/0/cache_control", R"({"type":"ephemeral"})", "null"},
    // the coding agent's line of this request, as a block of its own and before the prompt
    {"/system",
     R"([{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.1.0a1; cch=0aaa9;"},{"type":"text","text":"Be kind."}])",
     R"([{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.1.0a2; cch=36ee5;\nBe kind."}])"},
};

constexpr bypassing acts[] = {
    {"/thread", R"({"type":"new"})", reason::stateful_call},
    {"/container", R"("container_1")", reason::stateful_call},
    {"/container", R"({"skills":[]})", reason::stateful_call},
    {"/mcp_servers", R"([{"type":"url","name":"s","url":"https://example.com"}])", reason::side_effecting_call},
    {"/tools/1", R"({"type":"web_search_20250305","name":"web_search"})", reason::time_dependent_call},
    {"/tools/1", R"({"type":"web_search_20260318","name":"web_search"})", reason::time_dependent_call},
    {"/tools/1", R"({"type":"web_fetch_20250910","name":"web_fetch"})", reason::time_dependent_call},
    {"/tools/1", R"({"type":"code_execution_20250522","name":"code_execution"})", reason::side_effecting_call},
    {"/tools/1", R"({"type":"code_execution_20260521","name":"code_execution"})", reason::side_effecting_call},
    {"/tools/1", R"({"type":"tool_search_tool_bm25_20251119","name":"s"})", reason::side_effecting_call},
    {"/tools/1", R"({"type":"advisor_20260301","name":"advisor"})", reason::side_effecting_call},
    {"/tools/1", R"({"type":"mcp_toolset","mcp_server_name":"s"})", reason::side_effecting_call},
    {"/tools/1", R"({"type":"a_tool_of_next_year","name":"x"})", reason::side_effecting_call},
    {"/messages/0/content/2/tool/definition", R"({"type":"web_search_20260318"})", reason::time_dependent_call},
};

// A count runs no tool.
constexpr std::span states = std::span(acts).first<4>();

constexpr std::string_view ordered[] = {"/tools/0/input_schema", "/tools/0/input_examples/0",
                                        "/messages/0/content/2/tool/definition/input_schema",
                                        "/messages/1/content/1/input", "/output_config/format/schema"};
constexpr std::string_view headers[] = {"anthropic-version", "anthropic-beta"};

constexpr table all[] = {
    {"anthropic.messages", "/v1/messages", body, counts, ignores, acts, ordered, headers},
    {"anthropic.count_tokens", "/v1/messages/count_tokens", body, counts, ignores, states, ordered, headers},
};

}  // namespace

std::span<const table> anthropic() {
    return all;
}

}  // namespace idem::gateway::pipeline::fields
