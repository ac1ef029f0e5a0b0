#include "upstream/net/tls.hpp"

#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <array>
#include <boost/asio/ip/address.hpp>
#include <cstring>
#include <mutex>
#include <vector>

namespace idem::upstream::net {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

/// Modification time and size of the three files a context is made from.
using file_stamps = std::array<std::array<std::int64_t, 3>, 3>;

struct cached_context {
    tls_settings settings;
    file_stamps stamps;
    std::shared_ptr<tls_context> context;
};

file_stamps stamps_of(const tls_settings& settings) {
    file_stamps out{};
    const std::array<const std::string*, 3> files = {&settings.ca_file, &settings.certificate_file, &settings.key_file};
    for (std::size_t i = 0; i < files.size(); ++i) {
        struct stat facts{};
        if (files[i]->empty() || ::stat(files[i]->c_str(), &facts) != 0) continue;
        out[i] = {facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, facts.st_size};
    }
    return out;
}

std::shared_ptr<tls_context> make(const tls_settings& settings, std::string& error) {
    auto context = std::make_shared<tls_context>(ssl::context::tls_client);
    error_code ec;
    const auto failed = [&](std::string_view what, const std::string& file) {
        if (!ec) return false;
        error.assign(what).append(" ").append(file).append(": ").append(ec.message());
        return true;
    };
    SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
    if (settings.verify) {
        context->set_verify_mode(ssl::verify_peer, ec);
        if (settings.ca_file.empty()) {
            context->set_default_verify_paths(ec);
            if (failed("cannot load the system's trust store", {})) return nullptr;
        } else {
            context->load_verify_file(settings.ca_file, ec);
            if (failed("cannot load ca_file", settings.ca_file)) return nullptr;
        }
    } else {
        context->set_verify_mode(ssl::verify_none, ec);
    }
    if (!settings.certificate_file.empty()) {
        context->use_certificate_chain_file(settings.certificate_file, ec);
        if (failed("cannot load certificate_file", settings.certificate_file)) return nullptr;
        context->use_private_key_file(settings.key_file, ssl::context::pem, ec);
        if (failed("cannot load key_file", settings.key_file)) return nullptr;
    }
    return context;
}

}  // namespace

std::shared_ptr<tls_context> client_context(const tls_settings& settings, std::string& error) {
    static std::mutex guard;
    static std::vector<cached_context> cache;  // one per TLS upstream of the configuration: few
    const file_stamps stamps = stamps_of(settings);
    const std::lock_guard lock(guard);
    for (cached_context& known : cache) {
        if (!(known.settings == settings)) continue;
        if (known.stamps == stamps) return known.context;
        auto renewed = make(settings, error);
        if (renewed) {
            known.stamps = stamps;
            known.context = renewed;
        }
        return renewed;
    }
    auto context = make(settings, error);
    if (context) cache.push_back({settings, stamps, context});
    return context;
}

bool expect_server(SSL* connection, const tls_settings& settings, const std::string& host) {
    const std::string& name = settings.server_name.empty() ? host : settings.server_name;
    error_code not_an_address;
    boost::asio::ip::make_address(name, not_an_address);
    const bool is_name = static_cast<bool>(not_an_address);
    if (is_name && SSL_set_tlsext_host_name(connection, name.c_str()) != 1) return false;
    if (!settings.verify) return true;
    if (!is_name) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), name.c_str()) == 1;
    SSL_set_hostflags(connection, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(connection, name.c_str()) == 1;
}

std::string verification_error(SSL* connection) {
    const long result = SSL_get_verify_result(connection);
    return result == X509_V_OK ? std::string() : X509_verify_cert_error_string(result);
}

}  // namespace idem::upstream::net
