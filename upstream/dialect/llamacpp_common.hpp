#pragma once
// What the dialects of llama.cpp's own API share. Sources: tools/server/README.md of llama.cpp, and what its server
// sends. Sans-I/O, any thread.
//
// `/completions` and `/embeddings` without `/v1` are this API on a llama.cpp server, and OpenAI's on most others.
// Nothing in such a body decides, so the configured engine does: with `engine: llamacpp` they are dialects of this
// file, unless the upstream's URL ends in `/v1`; else they are OpenAI's, with entries of their own.
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "upstream/dialect/native_common.hpp"

namespace idem::upstream::dialect::llamacpp {

/// The engine's name in the configuration.
inline constexpr std::string_view engine_name = "llamacpp";

/// The event with which a server says that it has begun on one of several prompts.
inline constexpr std::string_view nothing_yet = "null";

/// Reads a completion or infill.
[[nodiscard]] call read_completion(std::string_view body);
[[nodiscard]] body_rules completion_rules() noexcept;

[[nodiscard]] std::unique_ptr<watcher> watch_completion(form f, const call& c);

using native::folded;
/// The object form, or the list of objects where there are several results, from the events: text, tokens and their
/// probabilities of all events of one index, and the rest of its last one. nullopt if the stream is broken, carries an
/// error or some result never says `"stop":true`.
[[nodiscard]] std::optional<folded> fold(std::string_view stream);
/// An event for what was generated and the last one, for each result. nullopt where folding would not give the object
/// back, and where it lacks the token ids that every stream has (it was asked for without `return_tokens`).
[[nodiscard]] std::optional<std::string> split(std::string_view object);
/// What two answers are compared by: text and the reason of its end, for each result.
[[nodiscard]] std::optional<std::string> normalised(std::string_view object);

}  // namespace idem::upstream::dialect::llamacpp
