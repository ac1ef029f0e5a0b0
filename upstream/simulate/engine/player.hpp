#pragma once
// How the simulator looks as one engine: the pages that the engine answers beside model calls, and what its answers say
// about where they were made. Plain data, one file an engine; sans-I/O, any thread. Texts are templates, in which these
// stand for what is so at the moment: %version% %model% %running% (model calls being answered) %busy% (whether there
// are any) %kept% (whether prompts are kept for later requests) %process% (random, of this process) %now% (seconds
// since 1970) %environment% (how often it changed) %hash8% %hash64% (follow from version and environment).
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace idem::upstream::simulate::engine {

struct situation {
    std::string version;     // as version_of() says it
    std::string_view model;  // that is served, or that an answer is from
    unsigned environment = 0;
    std::uint64_t running = 0;
    std::uint64_t process = 0;
    std::int64_t now = 0;
    bool kept = false;
};

enum class page_kind : std::uint8_t {
    facts,
    health,
    generating,  // a health check that is a model call of one token, and so joins the batch
    reset        // forgets the prompts that were kept
};

struct page {
    std::string_view method;
    std::string_view path;  // with a '*' at its end: and whatever follows
    std::string_view body;
    page_kind kind = page_kind::facts;
    std::string_view content_type = "application/json";
    std::string_view query = {};  // must stand in the query
};

/// Where an answer says which environment made it.
enum class mark_place : std::uint8_t {
    nowhere,
    fingerprint,       // `system_fingerprint` of objects and of every chunk
    last_fingerprint,  // of objects and of a stream's last chunk
    weight_version,    // SGLang's, in `metadata` and `meta_info`
    model              // its `model` or `modelVersion`
};

struct player {
    std::string_view name;
    std::string_view version;  // that it shows if --version-string does not say another; a template too
    mark_place place = mark_place::nowhere;
    std::string_view mark = {};         // what stands there
    std::string_view owner = {};        // `owned_by` of a model; empty: the engine's name
    std::string_view model_tail = {};   // further members of an item in the list of models: `,"root":…`
    std::string_view models_tail = {};  // further members of that list
    std::span<const page> pages = {};
    std::string_view starting = {};  // body of the 503 while it starts; empty: an error object
};

extern const player anthropic;
extern const player azure;
extern const player gemini;
extern const player generic;
extern const player llamacpp;
extern const player lmdeploy;
extern const player mistral;
extern const player ollama;
extern const player openai;
extern const player sglang;
extern const player tgi;
extern const player trtllm;
extern const player vllm;

/// The one of that name, or `generic`.
[[nodiscard]] const player& find(std::string_view name) noexcept;
/// Null if the engine has no such page. `target` is a path with its query.
[[nodiscard]] const page* page_of(const player& as, std::string_view method, std::string_view target) noexcept;
/// The version that the engine shows: `told`, or its own if that is empty; once the environment has changed with
/// `.postN` behind it.
[[nodiscard]] std::string version_of(const player& as, std::string_view told, unsigned environment);
/// A template with its words filled in, fit to stand in JSON strings.
[[nodiscard]] std::string written(std::string_view text, const situation& now);

}  // namespace idem::upstream::simulate::engine
