#pragma once
// Ollama's two forms of an answer into each other. As the server makes the object itself, it is the last line with the
// text, thinking, tool calls and log probabilities of all lines. Sans-I/O, any thread.
#include <optional>
#include <string>
#include <string_view>

#include "upstream/dialect/native_common.hpp"
#include "upstream/dialect/ollama_watch.hpp"

namespace idem::upstream::dialect::ollama {

using native::folded;

/// nullopt if the stream is broken, carries an error or never says `done`.
[[nodiscard]] std::optional<folded> fold(std::string_view stream, api which);

/// A line each for thinking, text and tool calls, then the last one, which has everything else. nullopt where folding
/// the result would not give the object back.
[[nodiscard]] std::optional<std::string> split(std::string_view object, api which);

/// What two answers are compared by: the words and calls, without ids, times, counts and log probabilities.
[[nodiscard]] std::optional<std::string> normalised(std::string_view object, api which);

}  // namespace idem::upstream::dialect::ollama
