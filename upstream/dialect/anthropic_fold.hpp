#pragma once
// Folds an Anthropic stream into the message object, as the official SDKs' accumulators do: message_start holds the
// message, blocks grow by their deltas, message_delta has the last word on stop reason and usage (whose counts are
// totals). Raw tokens stay what they were; a tool's input is the very text that its pieces make. Sans-I/O, any thread.
#include <optional>
#include <string>
#include <string_view>

namespace idem::upstream::dialect::anthropic {

struct folded {
    std::string object;
    bool lossless =
        true;  // every member had a sure place, every tool's input is JSON, a stop reason and usage were there
};

/// nullopt if the stream is broken, carries an error or lacks message_stop.
[[nodiscard]] std::optional<folded> fold_message(std::string_view stream);

/// Whether blocks of this type carry an `input` that comes in pieces of JSON text.
[[nodiscard]] bool has_input(std::string_view block_type) noexcept;
/// The block at which another model takes over: it changes the message's own `model`, so it is not converted.
inline constexpr std::string_view fallback_block = "fallback";

}  // namespace idem::upstream::dialect::anthropic
