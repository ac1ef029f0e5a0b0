#pragma once
// Ed25519 keys (RFC 8032) by OpenSSL: one that signs, and those that signatures are checked with. Private keys are
// PKCS#8 in PEM, public ones SubjectPublicKeyInfo in PEM (RFC 8410), so that openssl(1) and every library read them. A
// key's id is the first 32 hexadecimal digits of the SHA-256 of its 32 public bytes. Immutable once made; any thread.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct evp_pkey_st;

namespace idem::gateway::receipts {

class signing_key {
public:
    /// A new one, from the system's generator. nullopt: OpenSSL cannot.
    [[nodiscard]] static std::optional<signing_key> create();
    /// Nothing, with a sentence in `error`, where the text holds no Ed25519 key.
    [[nodiscard]] static std::optional<signing_key> from_pem(std::string_view pem, std::string& error);
    [[nodiscard]] std::string pem() const;
    [[nodiscard]] std::string public_pem() const;
    [[nodiscard]] const std::string& id() const noexcept { return id_; }
    /// 64 bytes.
    [[nodiscard]] std::string sign(std::string_view message) const;

private:
    explicit signing_key(std::shared_ptr<evp_pkey_st> key);
    std::shared_ptr<evp_pkey_st> key_;
    std::string id_;
};

/// Public keys by id: after a rotation there are several.
class key_ring {
public:
    /// Every PUBLIC KEY block of the text. Nothing, with a sentence in `error`, where there is none or one is no
    /// Ed25519 key.
    [[nodiscard]] static std::optional<key_ring> from_pem(std::string_view pem, std::string& error);
    [[nodiscard]] bool has(std::string_view id) const { return keys_.contains(id); }
    [[nodiscard]] bool verify(std::string_view id, std::string_view message, std::string_view signature) const;
    [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }

private:
    std::map<std::string, std::shared_ptr<evp_pkey_st>, std::less<>> keys_;
};

/// The key of that file, or a new one that is written there (0600) where there is no file. Nothing, with a sentence in
/// `error`, also where others could read the file.
[[nodiscard]] std::optional<signing_key> load_or_create_key(const std::string& path, bool& created, std::string& error);
/// Writes a new key (0600); fails where there is a file.
[[nodiscard]] std::optional<signing_key> create_key(const std::string& path, std::string& error);

}  // namespace idem::gateway::receipts
