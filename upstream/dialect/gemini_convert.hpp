#pragma once
// Gemini answers from stream to object and back, and what two of them are compared by. Sans-I/O, any thread.
#include <optional>
#include <string>
#include <string_view>

namespace idem::upstream::dialect::gemini {

struct folded {
    std::string object;
    bool lossless = true;  // every member had a sure place
};

/// Parts of one candidate follow each other; text goes on where the event before ended with text of the same kind, and
/// a thought signature stays on the part that brought it. Usage, ratings and counts are those of the last event that
/// has them. A stream of one event is that event, byte for byte. nullopt if the stream is broken or reports an error.
[[nodiscard]] std::optional<folded> fold_answer(std::string_view stream);

/// One event that holds the whole answer, as short answers come from the provider's own servers.
[[nodiscard]] std::optional<std::string> split_answer(std::string_view object);

/// Of every candidate index, finish reason, role and parts without signatures, neighbouring texts joined; why a prompt
/// was blocked. Not ids, ratings or usage.
[[nodiscard]] std::optional<std::string> normalised_answer(std::string_view object);

}  // namespace idem::upstream::dialect::gemini
