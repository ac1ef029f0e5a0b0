#pragma once
// Entries encrypted at rest with AES-256-GCM (NIST SP 800-38D). A sealed blob is an encoded one (layout.hpp) of which
// all but the first 96 bytes is encrypted:
//
//   offset  size
//        0    96  as in the encoded blob, with the flag `sealed`
//       96    16  id of the key, zeros behind it
//      112    12  nonce, random
//      124        ciphertext of what the encoded blob has from offset 96 on, without its checksum
//              16  tag
//   last  8       XXH3-64 of everything before it, as in every blob
//
// The first 112 bytes are bound in as additional data, so that no ciphertext can be moved to another entry, given
// another lifetime, or taken for one under another key. Each fill has a key of its own, HMAC-SHA-256 of
// "idem seal 1", entry key and fill id under the key of the file: that a nonce would have to be unique among all
// entries of one key (2^32 at most, SP 800-38D section 8.3) does not bound how many entries a key may encrypt.
#include <memory>
#include <string>
#include <string_view>

#include "cache/entry/entry.hpp"
#include "cache/entry/keyring.hpp"

namespace idem::cache {

/// What a store needs to read entries.
struct entry_reading {
    std::size_t body_cap = 0;
    std::shared_ptr<const keyring> keys;  // null: there is no encryption
};

/// As it is stored: encode(), and sealed where there are keys. Empty as encode() says.
[[nodiscard]] std::string encode_stored(const entry& e, compression c, const keyring* keys);
/// decode() of what was stored, sealed or not. entry_unreadable: sealed with a key that is not there; entry_corrupt: it
/// does not open.
[[nodiscard]] decoded decode_stored(std::string_view blob, const cache_key& expected, const entry_reading& how);
/// What model, route and the like are in it is not to be seen from outside.
[[nodiscard]] bool is_sealed(std::string_view blob) noexcept;

/// `blob` as encode() made it, and a nonce that is used once. For encode_stored(), and for test vectors.
[[nodiscard]] std::string seal(std::string_view blob, const keyring::key& with, std::string_view nonce);

}  // namespace idem::cache
