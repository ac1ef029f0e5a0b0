#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

namespace {

// The runner takes 32 bits of it, and all of them set for none.
constexpr std::int64_t largest = 4294967294;
constexpr request_rule rules[] = {
    {.at = "/seed", .is = request_rule::kind::supply, .most = largest, .when = request_rule::under::seeded},
};
constexpr request_rule native_rules[] = {
    {.at = "/options/seed", .is = request_rule::kind::supply, .most = largest, .when = request_rule::under::seeded},
};

// Ollama always lets its runner reuse the prompt's cached prefix (llm/llama_server.go: cache_prompt is true), and no
// request can say otherwise: there is no state to start a strict call from. Go finds members whatever their case.
constexpr request_form forms[] = {
    {.dialects = "openai.chat|openai.completions", .rules = rules, .seed = "/seed", .loose_names = true},
    {.dialects = "ollama.chat|ollama.generate", .rules = native_rules, .seed = "/options/seed", .loose_names = true},
};

// `system_fingerprint` is the constant fp_ollama. The digests are those of all models that are installed.
constexpr fact_source version_facts[] = {{"engine_version", "/version"}};
constexpr fact_source tag_facts[] = {{"model", "/models/*/name", true}, {"weights_sha256", "/models/*/digest", true}};
constexpr probe endpoints[] = {{.path = "/api/version", .facts = version_facts},
                               {.path = "/api/tags", .facts = tag_facts}};
constexpr std::string_view unreadable[] = {"tokenizer_sha256", "chat_template_sha256", "dtype", "gpu", "driver"};

}  // namespace

constinit const profile ollama{
    .name = "ollama",
    .stream_options = true,
    .models = true,
    .seeds = true,
    .requests = forms,
    .probes = {.facts = endpoints, .health = "/api/version", .unreadable = unreadable},
    .evidence =
        "read from source: Ollama 0.33, llm/llama_server.go, api/types.go (Options), openai/openai.go; "
        "documentation, \"OpenAI compatibility\": supported request fields and endpoints",
};

}  // namespace idem::upstream::engine
