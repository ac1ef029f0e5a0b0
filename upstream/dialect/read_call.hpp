#pragma once
// What reading a request has in common in every dialect. Pure; any thread.
#include <string_view>

#include "upstream/dialect/dialect.hpp"

namespace idem::upstream::dialect {

/// Keeps the first reason.
inline void bypass(call& c, reason why) noexcept {
    if (!c.bypass) c.bypass = why;
}

/// The value of `stream`, whose true asks for `streamed` and whose false for an object. Servers disagree on whether
/// "true" or 1 mean it too, so nobody knows which form such a call gets: it is passed through.
inline void read_stream(call& c, std::string_view value, form streamed) noexcept {
    if (value == "true") {
        c.wanted = streamed;
    } else if (value == "false") {
        c.wanted = form::json;
    } else if (value != "null") {
        bypass(c, reason::form_unsupported);
    }
}

}  // namespace idem::upstream::dialect
