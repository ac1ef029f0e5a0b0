#include "cache/entry/sealed.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <xxhash.h>

#include <array>
#include <cstring>

#include "cache/entry/layout.hpp"

namespace idem::cache {

namespace {

constexpr std::size_t nonce_size = 12, tag_size = 16;
constexpr std::size_t id_at = layout::stable_size, nonce_at = id_at + keyring::longest_id,
                      text_at = nonce_at + nonce_size;
constexpr std::size_t overhead = text_at + tag_size + layout::checksum_size;

using context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

// Kept per thread: making one costs as much as a short answer.
EVP_CIPHER_CTX* cipher() {
    thread_local const context kept(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
    return kept.get();
}

unsigned char* bytes(char* p) noexcept {
    return reinterpret_cast<unsigned char*>(p);
}
const unsigned char* bytes(const char* p) noexcept {
    return reinterpret_cast<const unsigned char*>(p);
}

// Wiped when it goes.
struct fill_key {
    digest value;
    fill_key(const keyring::key& of, std::string_view blob) {
        std::string what("idem seal 1");
        what.append(blob.substr(layout::at_key, layout::at_ban - layout::at_key));
        value = hmac_sha256({reinterpret_cast<const char*>(of.bytes.data()), of.bytes.size()}, what);
    }
    ~fill_key() { OPENSSL_cleanse(value.bytes.data(), value.bytes.size()); }
    fill_key(const fill_key&) = delete;
    fill_key& operator=(const fill_key&) = delete;
};

std::uint64_t checksum(std::string_view of) noexcept {
    return XXH3_64bits(of.data(), of.size());
}

void append_checksum(std::string& out) {
    const std::uint64_t sum = checksum(out);
    for (std::size_t i = 0; i < sizeof sum; ++i) out.push_back(static_cast<char>(sum >> (8 * i) & 0xff));
}

std::uint64_t checksum_in(std::string_view blob) noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < sizeof sum; ++i)
        sum |= std::uint64_t{static_cast<unsigned char>(blob[blob.size() - sizeof sum + i])} << (8 * i);
    return sum;
}

// Into the plain blob that was sealed. False: the tag does not fit.
bool open(std::string_view blob, const keyring::key& with, std::string& plain) {
    const fill_key key(with, blob);
    const std::size_t size = blob.size() - overhead;
    plain.assign(blob.substr(0, layout::stable_size));
    plain.resize(layout::stable_size + size);
    plain[layout::at_flags] = static_cast<char>(plain[layout::at_flags] & ~layout::flag_sealed);
    EVP_CIPHER_CTX* c = cipher();
    std::array<char, tag_size> tag;
    std::memcpy(tag.data(), blob.data() + text_at + size, tag_size);
    int n = 0;
    const bool good =
        c &&
        EVP_DecryptInit_ex(c, EVP_aes_256_gcm(), nullptr, key.value.bytes.data(), bytes(blob.data() + nonce_at)) == 1 &&
        EVP_DecryptUpdate(c, nullptr, &n, bytes(blob.data()), static_cast<int>(nonce_at)) == 1 &&
        EVP_DecryptUpdate(c, bytes(plain.data() + layout::stable_size), &n, bytes(blob.data() + text_at),
                          static_cast<int>(size)) == 1 &&
        EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_SET_TAG, tag_size, tag.data()) == 1 &&
        EVP_DecryptFinal_ex(c, bytes(plain.data() + plain.size()), &n) == 1;
    if (!good) {
        OPENSSL_cleanse(plain.data(), plain.size());
        plain.clear();
        return false;
    }
    append_checksum(plain);
    return true;
}

}  // namespace

bool is_sealed(std::string_view blob) noexcept {
    return blob.size() > layout::at_flags && blob.starts_with(layout::magic) &&
           (blob[layout::at_flags] & layout::flag_sealed) != 0;
}

std::string seal(std::string_view blob, const keyring::key& with, std::string_view nonce) {
    const fill_key key(with, blob);
    const std::string_view text = blob.substr(layout::stable_size, blob.size() - layout::stable_size - 8);
    std::string out;
    out.reserve(text.size() + overhead);
    out.append(blob.substr(0, layout::stable_size));
    out[layout::at_flags] = static_cast<char>(out[layout::at_flags] | layout::flag_sealed);
    out.append(with.id).append(keyring::longest_id - with.id.size(), '\0').append(nonce);
    out.resize(text_at + text.size() + tag_size);
    EVP_CIPHER_CTX* c = cipher();
    int n = 0;
    const bool good =
        c && EVP_EncryptInit_ex(c, EVP_aes_256_gcm(), nullptr, key.value.bytes.data(), bytes(nonce.data())) == 1 &&
        EVP_EncryptUpdate(c, nullptr, &n, bytes(out.data()), static_cast<int>(nonce_at)) == 1 &&
        EVP_EncryptUpdate(c, bytes(out.data() + text_at), &n, bytes(text.data()), static_cast<int>(text.size())) == 1 &&
        EVP_EncryptFinal_ex(c, bytes(out.data() + text_at + text.size()), &n) == 1 &&
        EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_GET_TAG, tag_size, out.data() + text_at + text.size()) == 1;
    if (!good) return {};  // without memory; in clear it is not stored
    append_checksum(out);
    return out;
}

std::string encode_stored(const entry& e, compression c, const keyring* keys) {
    std::string blob = encode(e, c);
    if (!keys || blob.empty()) return blob;
    const id128 random = random_id();
    return seal(blob, keys->first(), view(random).substr(0, nonce_size));
}

decoded decode_stored(std::string_view blob, const cache_key& expected, const entry_reading& how) {
    if (!is_sealed(blob)) return decode(blob, expected, how.body_cap);
    const decoded corrupt{nullptr, reason::entry_corrupt}, unreadable{nullptr, reason::entry_unreadable};
    const auto head = decode_head(blob);
    if (!head || head->key != expected) return corrupt;
    if (head->format > entry_format) return unreadable;
    if (blob.size() < overhead + layout::fixed_size - layout::stable_size) return corrupt;
    if (checksum(blob.substr(0, blob.size() - layout::checksum_size)) != checksum_in(blob)) return corrupt;
    if (blob.size() - overhead > how.body_cap + layout::head_cap + layout::fixed_size) return unreadable;
    std::string_view id = blob.substr(id_at, keyring::longest_id);
    id = id.substr(0, id.find('\0'));
    const keyring::key* with = how.keys ? how.keys->find(id) : nullptr;
    if (!with) return unreadable;
    std::string plain;
    if (!open(blob, *with, plain)) return corrupt;
    decoded out = decode(plain, expected, how.body_cap);
    OPENSSL_cleanse(plain.data(), plain.size());
    return out;
}

}  // namespace idem::cache
