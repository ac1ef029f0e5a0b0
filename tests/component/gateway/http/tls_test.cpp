// The TLS listener, seen by an OpenSSL client.
#include <doctest/doctest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <memory>

#include "gateway/http/tls.hpp"
#include "tests/component/gateway/http/harness.hpp"
#include "tests/support/certificates.hpp"

using namespace idem;
using namespace idem::tests;
using namespace std::chrono_literals;

namespace {

struct client_options {
    std::string ca, certificate, key, alpn = std::string("\x08http/1.1");
    int highest = TLS1_3_VERSION;
};

/// How a read ended.
enum class ending { bytes, clean, cut };

class tls_client {
public:
    tls_client(std::uint16_t port, const client_options& o)
        : socket_(port), context_(SSL_CTX_new(TLS_client_method())) {
        const timeval limit{10, 0};
        ::setsockopt(socket_.fd(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        SSL_CTX_set_max_proto_version(context_.get(), o.highest);
        SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
        SSL_CTX_set_cipher_list(context_.get(), "DEFAULT:@SECLEVEL=0");
        SSL_CTX_load_verify_file(context_.get(), o.ca.c_str());
        SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
        if (!o.certificate.empty()) {
            SSL_CTX_use_certificate_chain_file(context_.get(), o.certificate.c_str());
            SSL_CTX_use_PrivateKey_file(context_.get(), o.key.c_str(), SSL_FILETYPE_PEM);
        }
        ssl_.reset(SSL_new(context_.get()));
        SSL_set1_host(ssl_.get(), "localhost");
        SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<const unsigned char*>(o.alpn.data()),
                            static_cast<unsigned>(o.alpn.size()));
        SSL_set_fd(ssl_.get(), socket_.fd());
        connected_ = SSL_connect(ssl_.get()) == 1;
        ERR_clear_error();
    }
    void close() { socket_.close(); }
    [[nodiscard]] bool connected() const { return connected_; }
    [[nodiscard]] SSL* ssl() const { return ssl_.get(); }
    void send(std::string_view bytes) {
        CHECK(SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) > 0);
    }
    ending read_some(std::string& out) {
        char block[16 * 1024];
        const int n = SSL_read(ssl_.get(), block, sizeof block);
        if (n > 0) {
            out.append(block, static_cast<std::size_t>(n));
            return ending::bytes;
        }
        const bool clean = SSL_get_error(ssl_.get(), n) == SSL_ERROR_ZERO_RETURN;
        ERR_clear_error();
        return clean ? ending::clean : ending::cut;
    }
    ending read_to_end(std::string& out) {
        ending e = ending::bytes;
        while (e == ending::bytes) e = read_some(out);
        return e;
    }
    /// Until the bytes end so.
    bool read_until(std::string_view tail, std::string& out) {
        while (!out.ends_with(tail)) {
            if (read_some(out) != ending::bytes) return false;
        }
        return true;
    }

private:
    struct release {
        void operator()(SSL_CTX* p) const { SSL_CTX_free(p); }
        void operator()(SSL* p) const { SSL_free(p); }
    };
    raw_client socket_;
    std::unique_ptr<SSL_CTX, release> context_;
    std::unique_ptr<SSL, release> ssl_;
    bool connected_ = false;
};

std::shared_ptr<boost::asio::ssl::context> context(const test::certificates& c, bool client_auth = false) {
    std::string error;
    auto made = http::make_tls_context({c.server_certificate, c.server_key, client_auth ? c.ca_file : ""}, error);
    REQUIRE_MESSAGE(made, error);
    return made;
}

const std::string quick = "GET /quick HTTP/1.1\r\nHost: h\r\n\r\n";

}  // namespace

TEST_CASE("TLS 1.3, http/1.1 by ALPN, many requests on one connection") {
    const test::certificates certs;
    running_server s({}, context(certs));
    tls_client c(s.port(), {.ca = certs.ca_file});
    REQUIRE(c.connected());
    CHECK(std::string(SSL_get_version(c.ssl())) == "TLSv1.3");
    const unsigned char* protocol = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(c.ssl(), &protocol, &size);
    CHECK(std::string_view(reinterpret_cast<const char*>(protocol), size) == "http/1.1");
    for (int i = 0; i < 20; ++i) {
        c.send(quick);
        std::string answer;
        REQUIRE(c.read_until("[quick]", answer));
        CHECK(answer.starts_with("HTTP/1.1 200 OK\r\n"));
    }
    c.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
    std::string stream;
    CHECK(c.read_until("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", stream));
    const std::string body(2 * 1024 * 1024, 'e');
    c.send("POST /echo HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n");
    c.send(body);
    std::string echoed;
    CHECK(c.read_to_end(echoed) == ending::clean);
    CHECK(echoed.ends_with("\r\n\r\n" + body));
    CHECK(s.counters().tls_failures == 0);
}

TEST_CASE("a complete answer ends with close_notify, one that is cut does not") {
    const test::certificates certs;
    running_server s({}, context(certs));
    std::string bytes;
    tls_client whole(s.port(), {.ca = certs.ca_file});
    whole.send("GET /stream HTTP/1.0\r\n\r\n");
    CHECK(whole.read_to_end(bytes) == ending::clean);
    CHECK(bytes.ends_with("\r\n\r\nhello world"));
    for (const std::string version : {"1.0", "1.1"}) {
        tls_client cut(s.port(), {.ca = certs.ca_file});
        cut.send("GET /unfinished HTTP/" + version + "\r\nHost: h\r\n\r\n");
        CHECK(cut.read_to_end(bytes) == ending::cut);
    }
}

TEST_CASE("old protocols and foreign applications are turned away") {
    const test::certificates certs;
    running_server s({}, context(certs));
    CHECK_FALSE(tls_client(s.port(), {.ca = certs.ca_file, .highest = TLS1_1_VERSION}).connected());
    CHECK(tls_client(s.port(), {.ca = certs.ca_file, .highest = TLS1_2_VERSION}).connected());
    CHECK_FALSE(tls_client(s.port(), {.ca = certs.ca_file, .alpn = std::string("\x02h2")}).connected());
    CHECK(tls_client(s.port(), {.ca = certs.ca_file, .alpn = std::string("\x02h2\x08http/1.1")}).connected());
    raw_client plain(s.port());
    REQUIRE(plain.send(quick));
    std::string bytes;
    plain.read_to_end(bytes);
    CHECK(bytes.find("HTTP/") == std::string::npos);
    CHECK(eventually([&] { return s.counters().tls_failures == 3; }));
}

TEST_CASE("client certificates are demanded where a CA is named") {
    const test::certificates certs;
    running_server s({}, context(certs, true));
    std::string bytes;
    tls_client without(s.port(), {.ca = certs.ca_file});
    CHECK(without.read_to_end(bytes) == ending::cut);
    CHECK(bytes.empty());
    tls_client with(s.port(), {.ca = certs.ca_file, .certificate = certs.client_certificate, .key = certs.client_key});
    REQUIRE(with.connected());
    with.send(quick);
    CHECK(with.read_until("[quick]", bytes));
    s.on_thread([&] { CHECK(s.handler().certificate.size() == 64); });
    CHECK(s.handler().requests().size() == 1);
}

TEST_CASE("a handshake that stalls is cut") {
    const test::certificates certs;
    http::server_limits limits;
    limits.head = 100ms;
    running_server s(limits, context(certs));
    raw_client c(s.port());
    std::string bytes;
    c.read_to_end(bytes);
    CHECK(bytes.empty());
    CHECK(eventually([&] { return s.counters().tls_failures == 1 && s.counters().open == 0; }));
}

TEST_CASE("the handler hears of a TLS client's farewell") {
    const test::certificates certs;
    running_server s({}, context(certs));
    tls_client c(s.port(), {.ca = certs.ca_file});
    c.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n");
    REQUIRE(eventually([&] { return s.handler().serving == 1; }));
    SSL_shutdown(c.ssl());
    c.close();
    CHECK(eventually([&] { return s.handler().gone_calls == 1; }));
}

TEST_CASE("what is wrong with the files is said, and never their content") {
    const test::certificates certs;
    const auto error_of = [](const http::tls_files& files) {
        std::string error;
        CHECK(http::make_tls_context(files, error) == nullptr);
        return error;
    };
    CHECK(error_of({"/nowhere.pem", certs.server_key, ""}).starts_with("certificate chain \"/nowhere.pem\": "));
    CHECK(error_of({certs.server_certificate, "/nowhere.key", ""}).starts_with("private key \"/nowhere.key\": "));
    CHECK(error_of({certs.server_certificate, certs.client_key, ""}).find("private key") == 0);
    CHECK(error_of({certs.server_certificate, certs.server_key, "/nowhere.ca"})
              .starts_with("client CA \"/nowhere.ca\": "));
}
