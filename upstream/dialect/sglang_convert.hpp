#pragma once
// SGLang's two forms of an answer of /generate into each other. Each event of a stream holds all the text so far, so
// the last event of a result is the result; a server started with --incremental-streaming-output sends pieces instead,
// which can be read and compared, but not turned into the object. Results of a list have an `index` in the stream only.
// Sans-I/O, any thread.
#include <optional>
#include <string>
#include <string_view>

#include "upstream/dialect/native_common.hpp"

namespace idem::upstream::dialect::sglang {

using native::folded;

/// Lossless if each event held all so far. nullopt if the stream is broken, carries an error, lacks [DONE] or has no
/// result.
[[nodiscard]] std::optional<folded> fold(std::string_view stream);
/// One event for each result, and [DONE]. nullopt where folding would not give the object back.
[[nodiscard]] std::optional<std::string> split(std::string_view object);
/// What two answers are compared by: text, token ids and the reason of the end, for each result.
[[nodiscard]] std::optional<std::string> normalised(std::string_view object);

}  // namespace idem::upstream::dialect::sglang
