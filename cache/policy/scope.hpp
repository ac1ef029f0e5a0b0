#pragma once
// Whose answers may be shared. The scope is a digest over what identifies the caller; it is part of the key, so callers
// of different scopes can never meet one entry. By default one credential is one scope. The rules and the encoding
// stand in cache/README.md. Pure; any thread.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/policy/cidr.hpp"
#include "upstream/base/digest.hpp"
#include "upstream/base/reason.hpp"
#include "upstream/http/fields.hpp"

namespace idem::cache {

enum class scope_mode : std::uint8_t {
    credential,  // every credential of the request, together
    client,      // the name that the clients file gives the caller
    shared,      // all callers; those without a credential apart
    header,      // the value of a field that a trusted peer sets
};

/// What `cache.scope`, `cache.key_secret` and `listen.trusted` say.
struct scope_rules {
    scope_mode mode = scope_mode::credential;
    std::string header;         // lower case, with scope_mode::header
    std::string secret;         // HMAC key; empty: a published constant
    std::vector<cidr> trusted;  // peers whose scope header counts
};

/// "credential", "client", "shared" or "header:NAME"; the other members stay as they are by default.
[[nodiscard]] std::optional<scope_rules> parse_scope(std::string_view text);

/// Who sent a request.
struct caller {
    const upstream::http::fields& headers;
    std::string_view query;        // as sent, without `?`
    std::string_view certificate;  // SHA-256 of the client certificate in hex; empty without one
    std::string_view client;       // name from the clients file; empty without one
    ip_address peer;
    std::string_view tenant = {};  // what the call itself keeps apart (vLLM's cache_salt); empty without one
};

struct scope {
    reason why = reason::none;  // untrusted_scope, or unauthorized in scope `client` without a name: no look-up
    digest value;
    digest credential;       // of the credentials alone: what the proof table knows them by
    bool anonymous = false;  // the request carries no credential
};
[[nodiscard]] scope scope_of(const scope_rules& rules, const caller& who);

/// Whose limits a request counts against: the client's name where there is one, else the value of the scope header from
/// a trusted peer, else its credentials alone. Nothing else enters, since what callers may choose would be a way round
/// every limit.
[[nodiscard]] digest caller_id(const scope_rules& rules, const caller& who);

/// True for the fields whose values identify the caller or the account; the raw memo compares them all.
[[nodiscard]] bool scope_field(std::string_view name) noexcept;

/// The request fields that scope_of reads, lower case, without the header of scope_mode::header.
inline constexpr std::string_view credential_fields[] = {"authorization", "x-api-key", "api-key", "x-goog-api-key"};
inline constexpr std::string_view account_fields[] = {"openai-organization", "openai-project", "anthropic-workspace-id",
                                                      "anthropic-user-profile-id"};

}  // namespace idem::cache
