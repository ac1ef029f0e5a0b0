#pragma once
// Where a replica listens. Plain data, made from a URL at start; any thread.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "upstream/net/proxy_settings.hpp"
#include "upstream/net/tls_settings.hpp"

namespace idem::upstream::client {

using net::tls_settings;

struct target {
    std::string host;  // name or address literal, IPv6 without brackets
    std::uint16_t port = 80;
    bool tls = false;
    std::string base_path;  // prepended to request paths; no trailing slash; a doubled /v1 collapses
    tls_settings tls_options;
    net::proxy_settings through;
    /// Host header value: host, and port where it is not the scheme's own.
    [[nodiscard]] std::string authority() const;
    /// Joins base_path and a request target: "/v1" + "/v1/models" is "/v1/models".
    [[nodiscard]] std::string join(std::string_view request_target) const;
};

/// The same server with its pages beside its API, which a URL may have named: without a `/v1` at the end.
[[nodiscard]] target beside_api(target to);

/// A name of the server at a target, the same for the spellings of its URL that nobody needs a resolver to see through:
/// with or without a `/v1`, localhost or its address, an address in any of its forms (inet_aton(3), RFC 5952). For
/// comparison, not for connecting.
[[nodiscard]] std::string server_of(const target& to);

/// Accepts http:// and https://, with or without a path; refuses user info, query, fragment. On failure returns nullopt
/// and says why in `error`.
[[nodiscard]] std::optional<target> parse_url(std::string_view url, std::string& error);

}  // namespace idem::upstream::client
