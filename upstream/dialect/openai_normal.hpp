#pragma once
// What two OpenAI answers are compared by, as one JSON text in a fixed order: the words, not their ids, times, usage or
// log probabilities. null, "" and absent are the same, since a stream cannot tell them apart. Sans-I/O, any thread.
#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>

namespace idem::upstream::dialect::openai {

/// Appends the member `tool_calls` as answers are compared by it: names and arguments; nothing if there are none.
void copy_calls(std::string& out, simdjson::dom::object message);

/// Index, finish reason, stop reason, role, content, reasoning, refusal, calls, audio and token ids of every choice.
[[nodiscard]] std::optional<std::string> normalised_chat(std::string_view object);
/// Index, finish reason, stop reason, text and token ids of every choice.
[[nodiscard]] std::optional<std::string> normalised_completions(std::string_view object);
/// The same of an object that is parsed already.
[[nodiscard]] std::optional<std::string> normalised_chat(simdjson::dom::object object);
[[nodiscard]] std::optional<std::string> normalised_completions(simdjson::dom::object object);
[[nodiscard]] std::optional<std::string> normalised_embeddings(simdjson::dom::object object);
/// Index and vector of every item; a vector as the bits of its single-precision numbers, so that both encodings agree.
[[nodiscard]] std::optional<std::string> normalised_embeddings(std::string_view object);

}  // namespace idem::upstream::dialect::openai
