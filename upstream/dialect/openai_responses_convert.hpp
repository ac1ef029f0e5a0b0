#pragma once
// OpenAI responses from stream to object and back, and what two of them are compared by. Sans-I/O, any thread.
#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>

namespace idem::upstream::dialect::openai {

/// The object is the one in the terminal event, byte for byte; where that has no output, the items that are done take
/// their place, as in the official SDKs. nullopt if the stream is broken, reports an error or has no such event.
[[nodiscard]] std::optional<std::string> fold_response(std::string_view stream);

/// The events that lead to the object, each text in one piece, numbered from 0: created, in_progress, every item with
/// its parts, and the terminal event with the object itself. nullopt for items of other kinds than messages, reasoning
/// and calls of the client's tools, and for what the official SDKs' accumulators would reject.
[[nodiscard]] std::optional<std::string> split_response(std::string_view object);

/// Status, why it is incomplete, and of every item what was said, thought or called; not ids, encrypted reasoning, log
/// probabilities or usage.
[[nodiscard]] std::optional<std::string> normalised_response(std::string_view object);
[[nodiscard]] std::optional<std::string> normalised_response(simdjson::dom::object object);

}  // namespace idem::upstream::dialect::openai
