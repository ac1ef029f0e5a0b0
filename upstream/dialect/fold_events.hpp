#pragma once
// The loop that every fold of an SSE stream shares: each event goes to the fold's state, which makes the object at the
// end. Sans-I/O, any thread.
#include <optional>
#include <string_view>

#include "upstream/dialect/sse.hpp"

namespace idem::upstream::dialect {

/// `state` has `bool take(const sse_event&)`, false if the stream is of no use, and `finish()`, an optional of whatever
/// the stream folds to. nullopt for a stream that is of no use, too long in one event, or ends within one.
template <class State>
[[nodiscard]] auto fold_events(std::string_view stream, State state) -> decltype(state.finish()) {
    sse_splitter splitter;
    for (;;) {
        sse_step step = splitter.next(stream);
        if (step == sse_step::need_more) step = splitter.finish();
        if (step == sse_step::overflow) return std::nullopt;
        if (step == sse_step::need_more) break;
        if (!state.take(splitter.event())) return std::nullopt;
    }
    if (splitter.unfinished()) return std::nullopt;
    return state.finish();
}

}  // namespace idem::upstream::dialect
