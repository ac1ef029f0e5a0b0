#pragma once
// What Idem knows about the program that runs on a replica. Plain data, one file per engine; each statement names where
// it comes from. Any thread.
#include <span>
#include <string_view>

namespace idem::upstream::engine {

struct profile {
    std::string_view name;  // as in the configuration: upstreams[].engine
    /// Honours `stream_options.include_usage` on OpenAI streams, so that asking for usage is safe.
    bool stream_options = false;
    /// Answers GET /v1/models.
    bool models = false;
    /// Run by somebody else: its environment cannot be locked, so no guarantee can be given.
    bool hosted = false;
    std::string_view evidence;
};

extern const profile generic;
extern const profile llamacpp;
extern const profile ollama;
extern const profile openai;
extern const profile sglang;
extern const profile vllm;

/// Every word that names an engine, separated by `|`. Not all of them have a profile.
inline constexpr std::string_view names =
    "vllm|sglang|llamacpp|ollama|tgi|trtllm|lmdeploy|openai|azure|anthropic|gemini|mistral|generic";

/// Whether `name` is one of `names`.
[[nodiscard]] bool known(std::string_view name) noexcept;
/// All profiles, sorted by name.
[[nodiscard]] std::span<const profile* const> all() noexcept;
/// Null if there is none of that name.
[[nodiscard]] const profile* find(std::string_view name) noexcept;

}  // namespace idem::upstream::engine
