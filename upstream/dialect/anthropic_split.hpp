#pragma once
// Takes an Anthropic message in object form apart into the events of a stream, each block in one piece, as the official
// SDKs' accumulators put them together again. Sans-I/O, any thread.
#include <optional>
#include <string>
#include <string_view>

namespace idem::upstream::dialect::anthropic {

/// nullopt where folding the result would not give the object back.
[[nodiscard]] std::optional<std::string> split_message(std::string_view object);

}  // namespace idem::upstream::dialect::anthropic
