#pragma once
// Watchers for OpenAI responses. A response is complete if it says `completed`, or `incomplete` because of its limit,
// has output of which nothing is still in progress, and reports no error; a stream if its terminal event carries such a
// response. One watcher belongs to one fill.
//
//     stream := response.created … (response.completed | response.incomplete | response.failed)
//
// Other events are harmless, and so is a [DONE] behind the end. Clients dispatch on the data's `type`, some on the
// `event` line; two that differ make the answer malformed.
#include <memory>

#include "upstream/dialect/dialect.hpp"

namespace idem::upstream::dialect::openai {

[[nodiscard]] std::unique_ptr<watcher> watch_response(form f);

/// Whether events of this type end a stream.
[[nodiscard]] bool ends_response(std::string_view type) noexcept;

}  // namespace idem::upstream::dialect::openai
