#pragma once
// Opens a stream to a named peer: resolve, connect over all addresses, through a proxy if there is one, TLS, all within
// one deadline.
#include <string>

#include "upstream/net/proxy_settings.hpp"
#include "upstream/net/stream.hpp"

namespace idem::upstream::net {

struct peer {
    std::string host;  // name, address literal, or the path of a Unix socket if it begins with a slash
    std::uint16_t port = 0;
    bool tls = false;
    tls_settings tls_options;
    proxy_settings through;  // names are the proxy's to resolve then
};

struct dial_failure {
    enum class kind : std::uint8_t { none, resolve, connect, tls, timeout, aborted };
    kind what = kind::none;
    std::string detail;  // for the log: which step, which peer, the system's words
    explicit operator bool() const noexcept { return what != kind::none; }
};

/// `into` is a fresh stream. On success it is connected (without TLS and behind a proxy, to the proxy), has
/// TCP_NODELAY, and with `tls` the peer is verified. Each address gets its share of the time that is left, so that one
/// that swallows packets leaves time for the next. into.abort() ends it early. `to` and `into` must outlive the task.
[[nodiscard]] task<dial_failure> dial(stream& into, const peer& to, time_point limit);

/// Aborts a stream that may be in dial().
void abort_dialing(stream& s) noexcept;

}  // namespace idem::upstream::net
