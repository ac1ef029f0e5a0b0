#include "gateway/http/tls.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <boost/system/error_code.hpp>
#include <cstring>
#include <span>

#include "upstream/base/digest.hpp"

namespace idem::gateway::http {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

constexpr unsigned char our_protocol[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

/// A client that offers protocols but not ours is told so (RFC 7301 section 3.2) instead of failing later.
int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* offered,
                    unsigned offered_size, void*) {
    unsigned char* chosen = nullptr;
    const int found =
        SSL_select_next_proto(&chosen, out_size, our_protocol, sizeof our_protocol, offered, offered_size);
    *out = chosen;
    return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

std::string describe(const std::string& what, const std::string& file, const error_code& ec) {
    ERR_clear_error();
    return what + " \"" + file + "\": " + ec.message();
}

/// Empty if all is well.
std::string configure(ssl::context& context, const tls_files& files) {
    error_code ec;
    context.set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 | ssl::context::no_sslv3 |
                            ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1 | ssl::context::single_dh_use,
                        ec);
    if (ec) return "TLS options: " + ec.message();
    context.use_certificate_chain_file(files.certificate_chain, ec);
    if (ec) return describe("certificate chain", files.certificate_chain, ec);
    context.use_private_key_file(files.private_key, ssl::context::pem, ec);
    if (ec) return describe("private key", files.private_key, ec);
    SSL_CTX* native = context.native_handle();
    if (SSL_CTX_check_private_key(native) != 1) {
        ERR_clear_error();
        return "private key \"" + files.private_key + "\" does not belong to the certificate";
    }
    SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_alpn_select_cb(native, choose_protocol, nullptr);
    constexpr unsigned char session_context[] = {'i', 'd', 'e', 'm'};
    SSL_CTX_set_session_id_context(native, session_context, sizeof session_context);
    if (files.client_ca.empty()) return {};
    context.load_verify_file(files.client_ca, ec);
    if (ec) return describe("client CA", files.client_ca, ec);
    SSL_CTX_set_client_CA_list(native, SSL_load_client_CA_file(files.client_ca.c_str()));
    context.set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, ec);
    return ec ? "client verification: " + ec.message() : std::string{};
}

}  // namespace

std::shared_ptr<ssl::context> make_tls_context(const tls_files& files, std::string& error) {
    auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
    error = configure(*context, files);
    return error.empty() ? context : nullptr;
}

std::string peer_certificate_digest(SSL* connection) {
    X509* certificate = SSL_get1_peer_certificate(connection);
    if (certificate == nullptr) return {};
    std::array<std::uint8_t, EVP_MAX_MD_SIZE> bytes{};
    unsigned size = 0;
    const int ok = X509_digest(certificate, EVP_sha256(), bytes.data(), &size);
    X509_free(certificate);
    return ok == 1 ? to_hex(std::span(bytes).first(size)) : std::string{};
}

}  // namespace idem::gateway::http
