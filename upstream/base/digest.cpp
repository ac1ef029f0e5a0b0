#include "upstream/base/digest.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

namespace idem {
namespace {

// Fetched once: EVP_sha256() looks the implementation up again on every EVP_DigestInit_ex (OpenSSL 3 migration guide,
// "Performance"), which costs more than hashing a short request.
const EVP_MD* sha256_method() {
    static EVP_MD* const method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    return method;
}

EVP_MD_CTX* as_context(void* p) {
    return static_cast<EVP_MD_CTX*>(p);
}

template <std::size_t N>
bool from_hex(std::string_view hex, std::array<std::uint8_t, N>& out) noexcept {
    if (hex.size() != 2 * N) return false;
    auto nibble = [](char c) -> int {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        return -1;
    };
    for (std::size_t i = 0; i < N; ++i) {
        const int high = nibble(hex[2 * i]);
        const int low = nibble(hex[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        out[i] = static_cast<std::uint8_t>(high << 4 | low);
    }
    return true;
}

}  // namespace

hasher::hasher() : context_(EVP_MD_CTX_new()) {
    if (!context_ || EVP_DigestInit_ex(as_context(context_), sha256_method(), nullptr) != 1) throw std::bad_alloc();
}

hasher::~hasher() {
    EVP_MD_CTX_free(as_context(context_));
}

void hasher::flush() noexcept {
    EVP_DigestUpdate(as_context(context_), pending_.data(), pending_size_);
    pending_size_ = 0;
}

void hasher::update(std::string_view data) noexcept {
    if (data.size() > pending_.size() - pending_size_) {
        flush();
        if (data.size() > pending_.size()) {
            EVP_DigestUpdate(as_context(context_), data.data(), data.size());
            return;
        }
    }
    std::copy(data.begin(), data.end(), pending_.begin() + pending_size_);
    pending_size_ += data.size();
}

void hasher::part(char tag, std::string_view data) noexcept {
    char head[9];
    head[0] = tag;
    for (int i = 0; i < 8; ++i)
        head[1 + i] = static_cast<char>(static_cast<std::uint64_t>(data.size()) >> (56 - 8 * i));
    update({head, sizeof head});
    update(data);
}

digest hasher::finish() noexcept {
    digest d;
    flush();
    EVP_DigestFinal_ex(as_context(context_), d.bytes.data(), nullptr);
    EVP_DigestInit_ex(as_context(context_), nullptr, nullptr);
    return d;
}

digest hasher::with_part(char tag, std::string_view data) noexcept {
    thread_local hasher branch;
    flush();
    EVP_MD_CTX_copy_ex(as_context(branch.context_), as_context(context_));
    branch.part(tag, data);
    return branch.finish();
}

digest sha256(std::string_view data) noexcept {
    thread_local hasher h;
    h.update(data);
    return h.finish();
}

// By the definition of RFC 2104: OpenSSL 3's HMAC() looks its implementation up on every call, which costs several
// times the hashing of a short message.
digest hmac_sha256(std::string_view secret, std::string_view data) noexcept {
    thread_local hasher h;
    std::array<std::uint8_t, 64> block{};
    if (secret.size() > block.size()) {
        const digest shortened = sha256(secret);
        std::copy(shortened.bytes.begin(), shortened.bytes.end(), block.begin());
    } else {
        std::copy(secret.begin(), secret.end(), block.begin());
    }
    const auto pass = [&](std::uint8_t pad, std::string_view message) {
        for (std::uint8_t& b : block) b ^= pad;
        h.update({reinterpret_cast<const char*>(block.data()), block.size()});
        h.update(message);
        return h.finish();
    };
    const digest inner = pass(0x36, data);
    const digest outer = pass(0x36 ^ 0x5c, view(inner));
    OPENSSL_cleanse(block.data(), block.size());
    return outer;
}

void to_hex(std::span<const std::uint8_t> bytes, char* out) noexcept {
    // Both digits of a byte at once: every answer names several digests.
    static constexpr auto pairs = [] {
        constexpr std::string_view digits = "0123456789abcdef";
        std::array<char, 512> table{};
        for (std::size_t b = 0; b < 256; ++b) {
            table[2 * b] = digits[b >> 4];
            table[2 * b + 1] = digits[b & 15];
        }
        return table;
    }();
    for (const std::uint8_t b : bytes) {
        std::memcpy(out, &pairs[std::size_t{2} * b], 2);
        out += 2;
    }
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
    std::string out(bytes.size() * 2, '\0');
    to_hex(bytes, out.data());
    return out;
}

std::optional<digest> digest_from_hex(std::string_view hex) noexcept {
    digest d;
    if (!from_hex(hex, d.bytes)) return std::nullopt;
    return d;
}

std::optional<id128> id128_from_hex(std::string_view hex) noexcept {
    id128 d;
    if (!from_hex(hex, d.bytes)) return std::nullopt;
    return d;
}

id128 random_id() {
    // Taken in larger pieces: a call into the generator costs more than what an id needs of it.
    struct reserve {
        std::array<std::uint8_t, 2048> bytes;
        std::size_t used = sizeof bytes;
    };
    thread_local reserve r;
    if (r.used == r.bytes.size()) {
        if (RAND_bytes(r.bytes.data(), static_cast<int>(r.bytes.size())) != 1)
            throw std::runtime_error("no random bytes");
        r.used = 0;
    }
    id128 d;
    std::memcpy(d.bytes.data(), r.bytes.data() + r.used, d.bytes.size());
    r.used += d.bytes.size();
    return d;
}

}  // namespace idem
