#include "gateway/receipts/keys.hpp"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "upstream/base/digest.hpp"

namespace idem::gateway::receipts {

namespace {

constexpr std::size_t longest_file = 64 * 1024;

struct bio_end {
    void operator()(BIO* b) const noexcept { BIO_free(b); }
};
using bio = std::unique_ptr<BIO, bio_end>;
struct context_end {
    void operator()(EVP_MD_CTX* c) const noexcept { EVP_MD_CTX_free(c); }
};
using context = std::unique_ptr<EVP_MD_CTX, context_end>;

bio reading(std::string_view text) {
    return bio(BIO_new_mem_buf(text.data(), static_cast<int>(std::min(text.size(), longest_file))));
}

std::string text_of(BIO* b) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(b, &data);
    return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

bool is_ed25519(const EVP_PKEY* key) {
    return key && EVP_PKEY_get_id(key) == EVP_PKEY_ED25519;
}

std::shared_ptr<EVP_PKEY> owned(EVP_PKEY* key) {
    return {key, [](EVP_PKEY* k) { EVP_PKEY_free(k); }};
}

std::string id_of(const EVP_PKEY* key) {
    std::array<unsigned char, 32> raw{};
    std::size_t size = raw.size();
    if (EVP_PKEY_get_raw_public_key(key, raw.data(), &size) != 1 || size != raw.size()) return {};
    const digest hash = sha256({reinterpret_cast<const char*>(raw.data()), raw.size()});
    return to_hex(std::span(hash.bytes).first(16));
}

// No passphrase is ever asked for on a terminal.
int no_passphrase(char*, int, int, void*) {
    return 0;
}

}  // namespace

signing_key::signing_key(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)), id_(id_of(key_.get())) {}

std::optional<signing_key> signing_key::create() {
    auto key = owned(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
    if (!key) return std::nullopt;
    return signing_key(std::move(key));
}

std::optional<signing_key> signing_key::from_pem(std::string_view pem, std::string& error) {
    auto key = owned(PEM_read_bio_PrivateKey(reading(pem).get(), nullptr, no_passphrase, nullptr));
    ERR_clear_error();
    if (!is_ed25519(key.get())) {
        error = key ? "the key is not an Ed25519 key" : "no private key in PEM (PKCS#8, without passphrase)";
        return std::nullopt;
    }
    return signing_key(std::move(key));
}

std::string signing_key::pem() const {
    const bio out(BIO_new(BIO_s_mem()));
    PEM_write_bio_PKCS8PrivateKey(out.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return text_of(out.get());
}

std::string signing_key::public_pem() const {
    const bio out(BIO_new(BIO_s_mem()));
    PEM_write_bio_PUBKEY(out.get(), key_.get());
    return text_of(out.get());
}

std::string signing_key::sign(std::string_view message) const {
    const context c(EVP_MD_CTX_new());
    std::string out(64, '\0');
    std::size_t size = out.size();
    const auto* bytes = reinterpret_cast<const unsigned char*>(message.data());
    if (EVP_DigestSignInit(c.get(), nullptr, nullptr, nullptr, key_.get()) != 1 ||
        EVP_DigestSign(c.get(), reinterpret_cast<unsigned char*>(out.data()), &size, bytes, message.size()) != 1)
        return {};
    return out;
}

std::optional<key_ring> key_ring::from_pem(std::string_view pem, std::string& error) {
    key_ring ring;
    const bio in = reading(pem);
    while (auto key = owned(PEM_read_bio_PUBKEY(in.get(), nullptr, no_passphrase, nullptr))) {
        if (!is_ed25519(key.get())) {
            error = "a public key is not an Ed25519 key";
            return std::nullopt;
        }
        const std::string id = id_of(key.get());
        ring.keys_.emplace(id, std::move(key));
    }
    ERR_clear_error();
    if (ring.keys_.empty()) {
        error = "no public key in PEM (BEGIN PUBLIC KEY)";
        return std::nullopt;
    }
    return ring;
}

bool key_ring::verify(std::string_view id, std::string_view message, std::string_view signature) const {
    const auto key = keys_.find(id);
    if (key == keys_.end()) return false;
    const context c(EVP_MD_CTX_new());
    const auto* bytes = reinterpret_cast<const unsigned char*>(message.data());
    const bool good = EVP_DigestVerifyInit(c.get(), nullptr, nullptr, nullptr, key->second.get()) == 1 &&
                      EVP_DigestVerify(c.get(), reinterpret_cast<const unsigned char*>(signature.data()),
                                       signature.size(), bytes, message.size()) == 1;
    ERR_clear_error();
    return good;
}

std::optional<signing_key> create_key(const std::string& path, std::string& error) {
    auto key = signing_key::create();
    if (!key) {
        error = "OpenSSL makes no Ed25519 key";
        return std::nullopt;
    }
    std::error_code ignored;
    const auto folder = std::filesystem::path(path).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const std::string pem = key->pem();
    const bool written =
        file >= 0 && ::write(file, pem.data(), pem.size()) == static_cast<ssize_t>(pem.size()) && ::fsync(file) == 0;
    if (!written) error = "cannot write " + path + ": " + std::strerror(errno);
    if (file >= 0) ::close(file);
    if (written) return key;
    if (file >= 0) ::unlink(path.c_str());  // half a key would be taken for one that is damaged
    return std::nullopt;
}

std::optional<signing_key> load_or_create_key(const std::string& path, bool& created, std::string& error) {
    created = false;
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) {
        created = true;
        return create_key(path, error);
    }
    if ((info.st_mode & 077) != 0) {
        error = path + " can be read by others: chmod 600 it";
        return std::nullopt;
    }
    std::ifstream file(path);
    const std::string pem(std::istreambuf_iterator<char>(file), {});
    auto key = signing_key::from_pem(pem, error);
    if (!key) error = path + ": " + error;
    return key;
}

}  // namespace idem::gateway::receipts
