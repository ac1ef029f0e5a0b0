#pragma once
// The head of a request as it goes to a replica. Pure; any thread.
#include <optional>
#include <string>
#include <string_view>

#include "upstream/client/exchange.hpp"

namespace idem::upstream::client {

/// Replaces `into` by request line and fields with the empty line. Host, framing and connection fields are ours: those
/// in `out.headers` are left out (RFC 9110 section 7.6.1, RFC 9112 section 6). False, with nothing usable in `into`, if
/// some part holds CR, LF or NUL (RFC 9110 section 5.5).
[[nodiscard]] bool compose_head(std::string& into, const outgoing& out, const target& to);

/// Seconds of a `Keep-Alive: timeout=N` field, if it says so.
[[nodiscard]] std::optional<unsigned> keep_alive_seconds(std::string_view field) noexcept;

}  // namespace idem::upstream::client
