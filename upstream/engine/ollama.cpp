#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

namespace {

// Ollama always lets its runner reuse the prompt's cached prefix (llm/llama_server.go: cache_prompt is true), and no
// request can say otherwise: there is no state to start a strict call from. Go finds members whatever their case.
constexpr request_form forms[] = {
    {.dialects = "openai.chat|openai.completions", .seed = "/seed", .loose_names = true},
    {.dialects = "ollama.chat|ollama.generate", .seed = "/options/seed", .loose_names = true},
};

}  // namespace

constinit const profile ollama{
    .name = "ollama",
    .stream_options = true,
    .models = true,
    .seeds = true,
    .requests = forms,
    .evidence =
        "read from source: Ollama 0.33, llm/llama_server.go, api/types.go (Options), openai/openai.go; "
        "documentation, \"OpenAI compatibility\": supported request fields and endpoints",
};

}  // namespace idem::upstream::engine
