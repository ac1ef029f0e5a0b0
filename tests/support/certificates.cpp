#include "tests/support/certificates.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <stdexcept>

namespace idem::test {
namespace {

struct release {
    void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
    void operator()(X509* p) const { X509_free(p); }
    void operator()(BIO* p) const { BIO_free(p); }
    void operator()(X509_EXTENSION* p) const { X509_EXTENSION_free(p); }
};
template <class T>
using owned = std::unique_ptr<T, release>;

struct identity {
    owned<EVP_PKEY> key;
    owned<X509> certificate;
};

void extend(X509* certificate, X509* issuer, int what, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    const owned<X509_EXTENSION> extension(X509V3_EXT_conf_nid(nullptr, &context, what, value));
    if (!extension || X509_add_ext(certificate, extension.get(), -1) != 1) throw std::runtime_error("bad extension");
}

/// Self-signed without an issuer.
identity issue(const identity* issuer, const char* name, const char* alternative_names, long serial) {
    identity out{owned<EVP_PKEY>(EVP_EC_gen("P-256")), owned<X509>(X509_new())};
    X509* const c = out.certificate.get();
    X509_set_version(c, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(c), serial);
    X509_gmtime_adj(X509_getm_notBefore(c), -3600);
    X509_gmtime_adj(X509_getm_notAfter(c), 3600);
    X509_set_pubkey(c, out.key.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(c), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
    X509* const by = issuer != nullptr ? issuer->certificate.get() : c;
    X509_set_issuer_name(c, X509_get_subject_name(by));
    if (issuer == nullptr) {
        extend(c, by, NID_basic_constraints, "critical,CA:TRUE");
        extend(c, by, NID_key_usage, "critical,keyCertSign,cRLSign");
        extend(c, by, NID_subject_key_identifier, "hash");
    }
    if (alternative_names != nullptr) extend(c, by, NID_subject_alt_name, alternative_names);
    EVP_PKEY* const with = issuer != nullptr ? issuer->key.get() : out.key.get();
    if (X509_sign(c, with, EVP_sha256()) == 0) throw std::runtime_error("cannot sign");
    return out;
}

std::string text_of(BIO* memory) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(memory, &data);
    return {data, static_cast<std::size_t>(size)};
}

std::string pem(X509* certificate) {
    const owned<BIO> memory(BIO_new(BIO_s_mem()));
    PEM_write_bio_X509(memory.get(), certificate);
    return text_of(memory.get());
}

std::string pem(EVP_PKEY* key) {
    const owned<BIO> memory(BIO_new(BIO_s_mem()));
    PEM_write_bio_PrivateKey(memory.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
    return text_of(memory.get());
}

}  // namespace

certificates::certificates() {
    const identity authority = issue(nullptr, "idem test authority", nullptr, 1);
    const identity server = issue(&authority, "localhost", "DNS:localhost,IP:127.0.0.1,IP:::1", 2);
    const identity stranger = issue(&authority, "elsewhere.test", "DNS:elsewhere.test", 3);
    const identity client = issue(&authority, "a client", nullptr, 4);
    ca_file = folder_.write("ca.pem", pem(authority.certificate.get()));
    server_certificate = folder_.write("server.pem", pem(server.certificate.get()));
    server_key = folder_.write("server.key", pem(server.key.get()));
    stranger_certificate = folder_.write("stranger.pem", pem(stranger.certificate.get()));
    stranger_key = folder_.write("stranger.key", pem(stranger.key.get()));
    client_certificate = folder_.write("client.pem", pem(client.certificate.get()));
    client_key = folder_.write("client.key", pem(client.key.get()));
}

}  // namespace idem::test
