#pragma once
// One wire API of a language model, as the rest of Idem needs to know it: which calls it has, which body fields never
// reach the model, when an answer is complete, and how one form of an answer becomes the other. One file per dialect;
// the table in registry.cpp lists them. Everything here is sans-I/O, const and usable from any thread, except watcher,
// which belongs to one fill.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "upstream/base/reason.hpp"

namespace idem::upstream::dialect {

/// json_base64: an object, too, with vectors as base64 text instead of lists of numbers. Entries store the value.
enum class form : std::uint8_t { json, sse, ndjson, json_base64 };
[[nodiscard]] std::string_view content_type(form f) noexcept;  // "application/json", "text/event-stream", …
/// Objects are held until they are whole; the others are streams.
[[nodiscard]] constexpr bool is_object(form f) noexcept {
    return f == form::json || f == form::json_base64;
}

class batching;

/// Where rules apply inside a request body: JSON pointers in which `*` stands for any array index or object key, and a
/// leading `**/` for any depth. `ignored` members never enter the digest; inside `order_kept` subtrees the order of
/// object keys counts because it reaches the model. A string at a `prompt_text` place is what somebody wrote for the
/// model to read: a policy may normalise it.
struct body_rules {
    std::span<const std::string_view> ignored;
    std::span<const std::string_view> order_kept;
    std::span<const std::string_view> prompt_text = {};
};

/// What a dialect reads off one cacheable request body.
struct call {
    std::string model;
    form wanted = form::json;      // the form the client asked for
    bool usage_asked = false;      // the client wants the usage event on a stream
    unsigned choices = 1;          // finished choices that a complete answer must have (n, or n times prompts)
    bool limit_set = false;        // the request itself set the output limit, so `length` is its own wish
    bool seeded = false;           // a seed is given
    bool greedy = false;           // temperature 0 is given, or nothing is sampled (embeddings)
    std::string tenant;            // what keeps its callers' prefix caches apart (vLLM's cache_salt): part of the scope
    std::string cache_control;     // LiteLLM's member `cache`, raw; empty where absent: see cache_member.hpp
    std::optional<reason> bypass;  // stateful_call, side_effecting_call, missing_model, …: do not cache
};

/// Tokens as the answer itself states them.
struct usage {
    std::uint64_t input = 0;
    std::uint64_t output = 0;
};

/// Result of watching an answer to its end.
struct verdict {
    reason refuse = reason::none;  // none: complete and good; else why it must not be stored
    bool length_limited = false;   // some choice ended by `length`
    bool cut = false;  // it ends too early, whatever the framing says: in an object or a stream something is still open
    std::optional<usage> tokens;
    std::string model;                 // as the answer names it
    std::string fingerprint;           // `system_fingerprint`: of the program that answered, as far as it says
    bool fingerprint_changed = false;  // one answer names two of them
    // dialect::normalised() of a good answer, where the watcher had it parsed anyway; else it is worked out afterwards.
    std::optional<std::string> normalised;
};

/// A byte range of the answer body.
struct byte_range {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

/// Watches the decoded bytes of one answer as they arrive, in order. Bounded: a line above 1 MiB or an event above 4
/// MiB makes the verdict answer_malformed, nothing more.
class watcher {
public:
    virtual ~watcher() = default;
    virtual void feed(std::string_view bytes) = 0;
    /// `framing_complete` says whether the HTTP framing ended properly.
    [[nodiscard]] virtual verdict finish(bool framing_complete) = 0;
    /// Offset just behind the last whole event (json: 0 until the end). A reader that hides the usage event forwards to
    /// here and no further.
    [[nodiscard]] virtual std::uint64_t boundary() const noexcept = 0;
    /// What has to be left out for a client that did not ask for usage, once seen whole: the event that carries nothing
    /// else, or its member where the event says more.
    [[nodiscard]] virtual std::optional<byte_range> usage_event() const noexcept = 0;
};

class dialect {
public:
    virtual ~dialect() = default;
    /// "openai.chat", "anthropic.messages", …: enters the request digest; never change it.
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
    /// Whether this dialect answers that call. `path` is without query and without an upstream's base path.
    [[nodiscard]] virtual bool matches(std::string_view method, std::string_view path) const noexcept = 0;
    /// Whether engines give this path meanings that differ, so that meant() has to be asked.
    [[nodiscard]] virtual bool shares_path() const noexcept { return false; }
    /// The dialect of one call on a shared path: as its body tells, which need not be valid, or as the engine does that
    /// its upstream is configured with.
    [[nodiscard]] virtual const dialect& meant(std::string_view /*engine*/, std::string_view /*body*/) const {
        return *this;
    }
    /// Whether a body counts only under a content type of JSON. Some servers read it whatever it is called, and people
    /// call them with `curl -d` alone.
    [[nodiscard]] virtual bool minds_content_type() const noexcept { return true; }
    /// The path as it enters the digest: equivalent spellings of one endpoint agree ("/v1/chat/completions" and
    /// "/chat/completions").
    [[nodiscard]] virtual std::string_view normal_path() const noexcept = 0;
    /// The same of one call, where a part of its path says what is asked; a part of `path`.
    [[nodiscard]] virtual std::string_view digest_path(std::string_view /*path*/) const noexcept {
        return normal_path();
    }
    /// The path of the same call of another model, where the path names the model; nullopt where it does not.
    [[nodiscard]] virtual std::optional<std::string> with_model(std::string_view /*path*/,
                                                                std::string_view /*model*/) const {
        return std::nullopt;
    }
    /// Query parameters that choose the form of the answer and nothing else: they stay out of the digest.
    [[nodiscard]] virtual std::span<const std::string_view> form_parameters() const noexcept { return {}; }
    /// Whether clients of this API read its errors under that path, also where the call is none of the above.
    [[nodiscard]] virtual bool shapes_errors_of(std::string_view path) const noexcept { return matches("POST", path); }
    [[nodiscard]] virtual body_rules rules() const noexcept = 0;
    /// A valid body without the text that a client puts into every request anew and that means nothing to a model: the
    /// digest is made of what is left. Nothing else changes, and of a canonical form a canonical form is left. nullopt
    /// where there is none.
    [[nodiscard]] virtual std::optional<std::string> without_nonces(std::string_view) const { return std::nullopt; }
    /// A canonical body without a member that chooses the form of the answer and nothing else, where its value decides
    /// that: the digest is made of what is left. nullopt where there is none.
    [[nodiscard]] virtual std::optional<std::string> without_form(std::string_view) const { return std::nullopt; }
    /// Request headers that enter the digest, lower case ("openai-beta"); list-valued ones are sorted and deduplicated
    /// by the caller.
    [[nodiscard]] virtual std::span<const std::string_view> digest_headers() const noexcept = 0;
    /// `body` is JSON that the canonicaliser has accepted. Never throws.
    [[nodiscard]] virtual call read(std::string_view body) const = 0;
    /// Adds what the target says where other APIs say it in the body: the model, the form. `query` is as sent.
    virtual void read_target(call&, std::string_view /*path*/, std::string_view /*query*/) const {}
    [[nodiscard]] virtual std::unique_ptr<watcher> watch(form f, const call& c) const = 0;
    /// The request body with usage asked for on a stream, all other bytes unchanged; nullopt where nothing need change.
    [[nodiscard]] virtual std::optional<std::string> ask_usage(std::string_view body) const = 0;
    /// How calls for many things at once come apart; null where this API has none.
    [[nodiscard]] virtual const batching* batches() const noexcept { return nullptr; }
    /// Lossless conversions; nullopt where something would be lost (reason form_lossy). `include_usage` as asked by the
    /// client. assemble takes a stream to the object, split an object to the stream; where the other form is
    /// json_base64, assemble takes that to json, and split json to that.
    [[nodiscard]] virtual std::optional<std::string> assemble(std::string_view stream) const = 0;
    [[nodiscard]] virtual std::optional<std::string> split(std::string_view object, bool include_usage) const = 0;
    /// What two answers are compared by: content without ids, times and usage. Equal for both forms of one answer.
    /// nullopt if the answer does not parse.
    [[nodiscard]] virtual std::optional<std::string> normalised(form f, std::string_view body) const = 0;
    /// Error object for a failure made by Idem: `code` is to_string(why).
    [[nodiscard]] virtual std::string error_body(unsigned status, reason why, std::string_view message) const = 0;
    /// The response field in which clients of this API look for the id of their request, where x-request-id is not it.
    [[nodiscard]] virtual std::string_view request_id_field() const noexcept { return {}; }
    /// The event that ends a broken stream, whole with its blank line.
    [[nodiscard]] virtual std::string error_event(reason why, std::string_view message) const = 0;
};

/// The dialect of a call, or nullptr: proxied untouched. Of dialects that share a path the first one is found.
[[nodiscard]] const dialect* find(std::string_view method, std::string_view path) noexcept;
[[nodiscard]] const dialect* by_name(std::string_view name) noexcept;
/// Every dialect, in the order in which find() asks them.
[[nodiscard]] std::span<const dialect* const> all() noexcept;
/// Error body in the shape that clients of this path expect: a dialect's, else OpenAI's.
[[nodiscard]] std::string error_body(std::string_view path, unsigned status, reason why, std::string_view message);

}  // namespace idem::upstream::dialect
