#pragma once
// What two Anthropic answers are compared by, as one JSON text in a fixed order: what was said, thought and called, not
// ids, signatures, encrypted thinking or usage. Sans-I/O, any thread.
#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>

namespace idem::upstream::dialect::anthropic {

/// Role, stop reason and stop sequence; of every block type, text, thinking, tool name and input, citations, content.
[[nodiscard]] std::optional<std::string> normalised_message(std::string_view object);
/// The same of an object that is parsed already.
[[nodiscard]] std::optional<std::string> normalised_message(simdjson::dom::object object);
[[nodiscard]] std::optional<std::string> normalised_count(std::string_view object);

}  // namespace idem::upstream::dialect::anthropic
