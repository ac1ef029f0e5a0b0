#pragma once
// simdjson's DOM for text that is looked at once and thrown away. Full validation: UTF-8, grammar, nothing behind the
// value.
#include <simdjson.h>

#include <cstdint>
#include <string_view>

namespace idem::upstream::dialect {

/// `text` must be followed by at least simdjson::SIMDJSON_PADDING readable bytes. The result lives until the next call
/// on the same thread.
[[nodiscard]] simdjson::simdjson_result<simdjson::dom::element> parse_padded(std::string_view text);
/// As parse_padded(), but an object with two members of one name, however deep, is an error: clients take the last of
/// them, a cursor the first, so such an answer has no one meaning.
[[nodiscard]] simdjson::simdjson_result<simdjson::dom::element> parse_unambiguous(std::string_view text);
/// Copies the text first; for places where speed does not matter.
[[nodiscard]] simdjson::simdjson_result<simdjson::dom::element> parse_copied(std::string_view text);

/// Whether the member is there and not null.
[[nodiscard]] bool present(simdjson::dom::object object, std::string_view key, simdjson::dom::element& out);
/// The text of a string member; empty if there is none.
[[nodiscard]] std::string_view text_of(simdjson::dom::object object, std::string_view key);
/// The value of an unsigned member; 0 if there is none.
[[nodiscard]] std::uint64_t count_of(simdjson::dom::object object, std::string_view key);

}  // namespace idem::upstream::dialect
