#pragma once
// What Idem knows about the program that runs on a replica. Plain data, one file per engine; each statement names where
// it comes from. Any thread. README.md says the same to operators, with the servers' own flags.
#include <cstdint>
#include <span>
#include <string_view>

#include "upstream/engine/probes.hpp"
#include "upstream/engine/request_rule.hpp"

namespace idem::upstream::engine {

/// How many strict calls a replica may work on at once.
enum class concurrency_mode : std::uint8_t {
    serial,           // one: whoever shares its batch changes the order of additions
    batch_invariant,  // any number: the engine has kernels whose results do not depend on the batch
};

struct profile {
    std::string_view name;  // as in the configuration: upstreams[].engine
    /// Honours `stream_options.include_usage` on OpenAI streams, so that asking for usage is safe.
    bool stream_options = false;
    /// Answers GET /v1/models.
    bool models = false;
    /// Run by somebody else: its environment cannot be locked, so no guarantee can be given.
    bool hosted = false;
    /// The policy `strict` may be used: greedy decoding can be enforced and the engine's state reset for each call.
    bool strict = false;
    /// Each request has its own random generator, seeded by the request: what others ask does not enter its samples.
    bool seeds = false;
    /// The deterministic form of its calls, an API each. A dialect that is in none of them has no such form.
    std::span<const request_form> requests{};
    /// How a strict call starts from a known engine state, in words; empty: there is no way.
    std::string_view reset{};
    /// The server can be started with kernels whose results do not depend on the batch. That it was is for the operator
    /// to say.
    bool batch_invariant = false;
    /// Where the configuration says nothing.
    concurrency_mode concurrency = concurrency_mode::serial;
    /// Greedy and sampled calls must not share a batch.
    bool no_mixing = false;
    /// Paths, separated by `|`, that change the engine though the method says that they only read.
    std::string_view controls{};
    /// Paths that let the engine compute though the method says that they only read.
    std::string_view computing_reads{};
    /// Which facts its endpoints tell, and whether it lives. Hosted APIs have none.
    probe_plan probes{};
    std::string_view evidence;

    /// Null where the engine has no deterministic form of that API.
    [[nodiscard]] const request_form* form_of(std::string_view dialect) const noexcept;
};

extern const profile anthropic;
extern const profile azure;
extern const profile gemini;
extern const profile generic;
extern const profile llamacpp;
extern const profile lmdeploy;
extern const profile mistral;
extern const profile ollama;
extern const profile openai;
extern const profile sglang;
extern const profile tgi;
extern const profile trtllm;
extern const profile vllm;

/// The name of every profile, separated by `|`, in the order in which people look for them.
inline constexpr std::string_view names =
    "vllm|sglang|llamacpp|ollama|tgi|trtllm|lmdeploy|openai|azure|anthropic|gemini|mistral|generic";

/// Whether `name` is one of `names`.
[[nodiscard]] bool known(std::string_view name) noexcept;
/// All profiles, sorted by name.
[[nodiscard]] std::span<const profile* const> all() noexcept;
/// Null if there is none of that name.
[[nodiscard]] const profile* find(std::string_view name) noexcept;

}  // namespace idem::upstream::engine
