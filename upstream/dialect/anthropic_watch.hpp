#pragma once
// Watchers for the Anthropic dialects: is an answer complete and good enough to be stored? A message is complete if
// every content block has stopped, a stop reason is given, a stream has shown message_stop and nothing reports an
// error. One watcher belongs to one fill.
//
//     stream := message_start (content_block_start content_block_delta* content_block_stop)* message_delta message_stop
//
// with `ping` anywhere. Blocks may interleave; they begin in the order of their index. Clients dispatch on the `event`
// line, so one that does not agree with the data makes the answer malformed. Unknown events are harmless, and so is the
// [DONE] that vLLM appends.
//
// Stop reasons: `max_tokens` counts as length limited; `model_context_window_exceeded` is a limit that the request did
// not set (answer_truncated); `pause_turn` is a turn to be continued (choice_unfinished); `refusal` counts as filtered.
#include <memory>

#include "upstream/dialect/dialect.hpp"

namespace idem::upstream::dialect::anthropic {

[[nodiscard]] std::unique_ptr<watcher> watch_message(form f);
/// For {"input_tokens":N}.
[[nodiscard]] std::unique_ptr<watcher> watch_count();

}  // namespace idem::upstream::dialect::anthropic
