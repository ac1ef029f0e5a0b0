#pragma once
// How the facts of an engine are read off its HTTP endpoints, and what none of them can tell. Plain data; any thread.
#include <array>
#include <span>
#include <string_view>

namespace idem::upstream::engine {

/// One fact in the JSON that a probe is answered with.
struct fact_source {
    std::string_view fact;     // its name, the same for all engines where it means the same
    std::string_view pointer;  // RFC 6901; `*` stands for every element, whose values are then joined
    bool hashed = false;       // too long to show: its SHA-256
};

struct probe {
    std::string_view path;
    std::string_view older = {};  // what the endpoint was called before; asked where `path` is not offered
    std::span<const fact_source> facts;
};

struct probe_plan {
    std::span<const probe> facts = {};
    /// Answered with 200 where the server lives; empty: nothing to ask, requests alone tell.
    std::string_view health = {};
    /// A health endpoint that makes the engine compute, and so joins its batch: asked seldom. Empty: there is none.
    std::string_view slow_health = {};
    /// Answers carry `system_fingerprint`, and it changes where the environment does.
    bool fingerprint = false;
    /// Facts that enter the numbers and that no endpoint of this engine tells: declare them to lock them.
    std::span<const std::string_view> unreadable = {};
};

/// Facts that enter the numbers of every engine; those that nobody tells are listed as unknown.
inline constexpr std::array<std::string_view, 10> numeric_facts = {
    "engine_version",  "model", "weights_sha256", "tokenizer_sha256", "chat_template_sha256", "dtype", "quantization",
    "tensor_parallel", "gpu",   "driver"};

/// Whether some probe of `plan` may tell this fact.
[[nodiscard]] bool readable(const probe_plan& plan, std::string_view fact) noexcept;

}  // namespace idem::upstream::engine
