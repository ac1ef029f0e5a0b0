// Fields of Ollama's chat, generate and embeddings.
#include "tests/unit/gateway/pipeline/fields.hpp"

namespace idem::gateway::pipeline::fields {
namespace {

constexpr std::string_view chat_body = R"({
    "model": "qwen3", "options": {"num_ctx": 2048, "temperature": 1, "stop": ["a"]},
    "format": {"type": "object", "title": "t"},
    "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {"b": {}, "a": {}}}}}],
    "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Look.", "images": ["AAAA"]},
        {"role": "assistant", "content": "", "thinking": "hm", "tool_calls": [{"function": {"name": "f", "arguments": {"b": 1, "a": 2}}}]},
        {"role": "tool", "tool_name": "f", "content": "r"}]})";

constexpr counted chat_counts[] = {
    {"/model", R"("qwen3:latest")", R"("Qwen3")"},
    {"/messages", R"([{"role":"user","content":"x"}])", R"([{"role":"user","content":"y"}])"},
    {"/messages/0/role", R"("user")", R"("assistant")"},
    {"/messages/0/content", R"("Be kind. ")", R"("")"},
    {"/messages/1/images/0", R"("AAAB")", R"("")"},
    {"/messages/2/thinking", R"("")", R"("h")"},
    {"/messages/2/tool_calls/0/function/arguments", R"({"a":2,"b":1})", "{}"},
    {"/messages/3/tool_name", R"("g")", R"("")"},
    {"/tools", "[]", R"([{"type":"function","function":{"name":"f"}}])"},
    {"/tools/0/function/parameters/properties/stream", R"({"type":"string"})", R"({"type":"number"})"},
    {"/format", R"("json")", R"({"title":"t","type":"object"})"},
    {"/think", "true", R"("low")"},
    {"/truncate", "true", "false"},
    {"/shift", "true", "false"},
    {"/logprobs", "true", "false"},
    {"/top_logprobs", "1", "2"},
    {"/options/seed", "1", "-1"},
    {"/options/temperature", "0", "0.5"},
    {"/options/top_k", "1", "40"},
    {"/options/top_p", "0.5", "0.9"},
    {"/options/min_p", "0.5", "0.9"},
    {"/options/typical_p", "0.5", "0.9"},
    {"/options/repeat_last_n", "1", "2"},
    {"/options/repeat_penalty", "1.1", "1.2"},
    {"/options/presence_penalty", "1.1", "1.2"},
    {"/options/frequency_penalty", "1.1", "1.2"},
    {"/options/stop", R"(["b"])", "[]"},
    {"/options/num_predict", "10", "11"},
    {"/options/num_ctx", "4096", "8192"},
    {"/options/num_keep", "1", "2"},
};

constexpr ignored chat_ignores[] = {
    {"/stream", "true", "false"},
    {"/keep_alive", "0", R"("5m")"},
    {"/cache", R"({"no-cache":true})", "{}"},
    {"/options/num_thread", "1", "8"},
    {"/options/num_gpu", "1", "99"},
    {"/options/main_gpu", "0", "1"},
    {"/options/num_batch", "1", "512"},
    {"/options/use_mmap", "true", "false"},
    {"/options/draft_num_predict", "1", "2"},
};

constexpr bypassing chat_bypasses[] = {
    {"/messages", "[]", reason::no_generation},
    {"/messages", "null", reason::no_generation},
    {"/_debug_render_only", "true", reason::no_generation},
};

constexpr std::string_view chat_ordered[] = {"/format", "/tools/0/function/parameters",
                                             "/messages/2/tool_calls/0/function/arguments"};

constexpr std::string_view generate_body =
    R"({"model":"qwen3","prompt":"Once","options":{"num_ctx":2048},"format":{"type":"object","title":"t"}})";

constexpr counted generate_counts[] = {
    {"/model", R"("qwen3:latest")", R"("Qwen3")"},
    {"/prompt", R"("once")", R"("Once ")"},
    {"/suffix", R"("a")", R"("b")"},
    {"/system", R"("a")", R"("b")"},
    {"/template", R"("a")", R"("b")"},
    {"/raw", "true", "false"},
    {"/format", R"("json")", R"({"title":"t","type":"object"})"},
    {"/images", R"(["AAAA"])", R"(["AAAB"])"},
    {"/think", "true", "false"},
    {"/context", "[1]", "[2]"},
    {"/truncate", "true", "false"},
    {"/shift", "true", "false"},
    {"/logprobs", "true", "false"},
    {"/top_logprobs", "1", "2"},
    {"/width", "64", "128"},
    {"/options/seed", "9007199254740992", "9007199254740993"},
    {"/options/temperature", "0", "0.5"},
};

constexpr ignored generate_ignores[] = {
    {"/stream", "true", "false"},
    {"/keep_alive", "0", R"("5m")"},
    {"/options/num_gpu", "1", "99"},
};

constexpr bypassing generate_bypasses[] = {
    {"/prompt", R"("")", reason::no_generation},
    {"/prompt", "null", reason::no_generation},
    {"/_debug_render_only", "true", reason::no_generation},
};

constexpr std::string_view generate_ordered[] = {"/format"};

constexpr std::string_view embed_body = R"({"model":"m","input":["a","b"],"options":{"num_ctx":2048}})";

constexpr counted embed_counts[] = {
    {"/model", R"("n")", R"("M")"},  {"/input", R"("a")", R"(["b","a"])"},
    {"/input/0", R"("A")", R"("")"}, {"/truncate", "true", "false"},
    {"/dimensions", "8", "9"},       {"/options/num_ctx", "1", "2"},
};

constexpr ignored embed_ignores[] = {{"/keep_alive", "0", R"("5m")"}, {"/options/num_thread", "1", "8"}};

constexpr bypassing embed_bypasses[] = {{"/input", R"("")", reason::no_generation},
                                        {"/input", "[]", reason::no_generation}};

constexpr std::string_view old_body = R"({"model":"m","prompt":"a","options":{"num_ctx":2048}})";

constexpr counted old_counts[] = {
    {"/model", R"("n")", R"("M")"}, {"/prompt", R"("A")", R"("a ")"}, {"/options/num_ctx", "1", "2"}};

constexpr bypassing old_bypasses[] = {{"/prompt", R"("")", reason::no_generation}};

constexpr table all[] = {
    {"ollama.chat", "/api/chat", chat_body, chat_counts, chat_ignores, chat_bypasses, chat_ordered, {}},
    {"ollama.generate",
     "/api/generate",
     generate_body,
     generate_counts,
     generate_ignores,
     generate_bypasses,
     generate_ordered,
     {}},
    {"ollama.embed", "/api/embed", embed_body, embed_counts, embed_ignores, embed_bypasses, {}, {}},
    {"ollama.embeddings", "/api/embeddings", old_body, old_counts, embed_ignores, old_bypasses, {}, {}},
};

}  // namespace

std::span<const table> ollama() {
    return all;
}

}  // namespace idem::gateway::pipeline::fields
