#pragma once
// Client side TLS: contexts and what a handshake must check.
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "upstream/net/tls_settings.hpp"

namespace idem::upstream::net {

using tls_context = boost::asio::ssl::context;

/// The context for these settings: TLS 1.2 and 1.3, peer verification unless switched off. Made once per settings and
/// again when one of its files changes, so that a renewed certificate is used without a restart. Null on failure, with
/// a sentence in `error`. Any thread; takes a lock, reads file times.
[[nodiscard]] std::shared_ptr<tls_context> client_context(const tls_settings& settings, std::string& error);

/// Prepares one connection: SNI (names only, RFC 6066 section 3) and the name or address the certificate must hold
/// (RFC 9110 section 4.3.4). False if the name cannot be used.
[[nodiscard]] bool expect_server(SSL* connection, const tls_settings& settings, const std::string& host);

/// Why the peer's certificate was refused; empty if it was not.
[[nodiscard]] std::string verification_error(SSL* connection);

}  // namespace idem::upstream::net
