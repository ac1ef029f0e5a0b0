#pragma once
// simdjson's DOM for text that is looked at once and thrown away. Full validation: UTF-8, grammar, nothing behind the
// value.
#include <simdjson.h>

#include <string_view>

namespace idem::upstream::dialect {

/// `text` must be followed by at least simdjson::SIMDJSON_PADDING readable bytes. The result lives until the next call
/// on the same thread.
[[nodiscard]] simdjson::simdjson_result<simdjson::dom::element> parse_padded(std::string_view text);
/// Copies the text first; for places where speed does not matter.
[[nodiscard]] simdjson::simdjson_result<simdjson::dom::element> parse_copied(std::string_view text);

}  // namespace idem::upstream::dialect
