#pragma once
// A way through an HTTP proxy to a server behind it (CONNECT, RFC 9110 section 9.3.6).
#include <string>
#include <string_view>

#include "upstream/net/proxy_settings.hpp"
#include "upstream/net/stream.hpp"

namespace idem::upstream::net {

/// `into` is connected to the proxy; from here on it leads to `authority` (HOST:PORT). Empty on success, otherwise why
/// not, in words that hold no credential. Ends when the stream is cancelled or aborted.
[[nodiscard]] task<std::string> open_tunnel(stream& into, std::string_view authority, const proxy_settings& through);

}  // namespace idem::upstream::net
