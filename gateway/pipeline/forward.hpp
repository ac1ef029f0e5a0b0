#pragma once
// What of a client's request goes upstream. Pure functions on header lists.
#include <string>
#include <string_view>

#include "upstream/client/credential.hpp"
#include "upstream/client/exchange.hpp"
#include "upstream/http/message.hpp"

namespace idem::gateway::pipeline {

/// End-to-end fields of a request: without hop-by-hop fields, Host, framing, Expect, and the fields that control Idem.
/// `cacheable` asks for an unencoded answer, so that its bytes can be stored and watched. The upstream's own credential
/// replaces the client's where there is one; our Via is added.
[[nodiscard]] upstream::client::outgoing outgoing_of(const upstream::http::request_head& head,
                                                     upstream::client::credential& own, std::string_view via,
                                                     bool cacheable);

/// A target as it goes upstream: without the client's credentials if the upstream gets its own.
[[nodiscard]] std::string target_of(std::string_view target, const upstream::client::credential& own);

/// Takes out what was said of a body that is no longer the one that goes upstream: how it is encoded, and its digests
/// (RFC 9530, RFC 3230, RFC 1864).
void forget_body(upstream::http::fields& headers) noexcept;

/// True if `via` of this process is among the request's Via fields: the request goes round in a circle.
[[nodiscard]] bool loops(const upstream::http::fields& headers, std::string_view via) noexcept;

}  // namespace idem::gateway::pipeline
