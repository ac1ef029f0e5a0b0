#pragma once
// A signed statement: `{"signature":"<128 hexadecimal digits>","statement":{…}}`, all of it in the canonical form of
// RFC 8785, without a blank or a line end. The signature is Ed25519 over the bytes of the statement as they stand
// there; the statement names its `type` and its `signer`, so one of a kind cannot be passed off as one of another.
// There is one way to write each, so whatever byte is changed, it is noticed. Pure; any thread.
#include <cstddef>
#include <string>
#include <string_view>

#include "gateway/receipts/keys.hpp"

namespace idem::gateway::receipts {

inline constexpr std::size_t longest_signed = std::size_t{1} << 20;

/// RFC 8785 of a JSON text; empty where it is none.
[[nodiscard]] std::string canonical(std::string_view json);

/// `statement` is canonical and names key.id() as its signer.
[[nodiscard]] std::string seal(std::string_view statement, const signing_key& key);

struct opened {
    std::string error;           // for people; empty: good
    std::string_view statement;  // of the text, with an error too as far as it could be told
    std::string signer;
};
/// Checks form, type, signer and signature. Any bytes.
[[nodiscard]] opened unseal(std::string_view text, std::string_view type, const key_ring& keys);

}  // namespace idem::gateway::receipts
