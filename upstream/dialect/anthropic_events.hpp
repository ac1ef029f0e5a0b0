#pragma once
// The events of an Anthropic stream, as its watcher and its fold tell them apart.
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace idem::upstream::dialect::anthropic {

/// More blocks than this in one message are malformed.
inline constexpr std::size_t max_blocks = 65536;

enum class event_kind : std::uint8_t {
    unknown,
    ping,
    message_start,
    content_block_start,
    content_block_delta,
    content_block_stop,
    message_delta,
    message_stop,
};

/// Of the `event` line or of the data's `type`.
[[nodiscard]] constexpr event_kind kind_of_event(std::string_view type) noexcept {
    constexpr std::string_view names[] = {"",
                                          "ping",
                                          "message_start",
                                          "content_block_start",
                                          "content_block_delta",
                                          "content_block_stop",
                                          "message_delta",
                                          "message_stop"};
    for (std::size_t i = 1; i < std::size(names); ++i) {
        if (type == names[i]) return static_cast<event_kind>(i);
    }
    return event_kind::unknown;
}

}  // namespace idem::upstream::dialect::anthropic
