#pragma once
// The TLS side of a listener: a server context from PEM files. TLS 1.2 and later, ALPN "http/1.1", and client
// certificates required and verified where a CA is named. Made at start and on reload; shared by the threads
// afterwards.
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

namespace idem::gateway::http {

struct tls_files {
    std::string certificate_chain;  // PEM, the server's certificate first
    std::string private_key;        // PEM, without a passphrase
    std::string client_ca;          // PEM; not empty: every client must show a certificate that it signed
};

/// Null on failure, with the file and the cause in `error`; never the content of a file.
[[nodiscard]] std::shared_ptr<boost::asio::ssl::context> make_tls_context(const tls_files& files, std::string& error);

/// SHA-256 over the DER form of the peer's certificate as lower-case hex; empty without one.
[[nodiscard]] std::string peer_certificate_digest(SSL* connection);

}  // namespace idem::gateway::http
