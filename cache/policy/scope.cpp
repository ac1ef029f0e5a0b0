#include "cache/policy/scope.hpp"

#include <algorithm>
#include <iterator>

#include "cache/request/headers.hpp"
#include "cache/request/key.hpp"

namespace idem::cache {
namespace {

using upstream::http::iequals;

// Used where no secret is configured: it keeps scopes apart, and hides nothing from who can guess a credential.
constexpr std::string_view published_secret = "idem scope 1";

constexpr char credential_tags[] = {'a', 'x', 'k', 'g'};
constexpr char account_tags[] = {'O', 'P', 'W', 'U'};
static_assert(std::size(credential_tags) == std::size(credential_fields));
static_assert(std::size(account_tags) == std::size(account_fields));

// The same encoding of parts as hasher::part, kept as text because HMAC takes a message.
void part(std::string& out, char tag, std::string_view data) {
    out += tag;
    for (int shift = 56; shift >= 0; shift -= 8)
        out += static_cast<char>(static_cast<std::uint64_t>(data.size()) >> shift);
    out += data;
}

void begin(std::string& out, std::string_view mode) {
    out.clear();
    part(out, 'v', key_version);
    part(out, 'm', mode);
}

// Appends every credential that is present; says whether there is any. Fields that come twice count twice.
bool append_credentials(std::string& out, const caller& who) {
    const std::size_t before = out.size();
    for (std::size_t i = 0; i < std::size(credential_fields); ++i) {
        for (const auto [name, value] : who.headers) {
            if (iequals(name, credential_fields[i])) part(out, credential_tags[i], value);
        }
    }
    if (!who.query.empty()) {
        for (const auto& [name, value] : query_credentials(who.query)) part(out, 'q', name + "=" + value);
    }
    if (!who.certificate.empty()) part(out, 'c', who.certificate);
    return out.size() != before;
}

void append_accounts(std::string& out, const caller& who) {
    for (std::size_t i = 0; i < std::size(account_fields); ++i) {
        for (const auto [name, value] : who.headers) {
            if (iequals(name, account_fields[i])) part(out, account_tags[i], value);
        }
    }
}

bool trusted(const scope_rules& rules, const ip_address& peer) noexcept {
    return std::any_of(rules.trusted.begin(), rules.trusted.end(), [&](const cidr& c) { return c.contains(peer); });
}

// Field-name token (RFC 9110 section 5.6.2).
bool is_token(std::string_view s) noexcept {
    return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
    });
}

}  // namespace

std::optional<scope_rules> parse_scope(std::string_view text) {
    scope_rules rules;
    if (text == "credential") return rules;
    if (text == "client") {
        rules.mode = scope_mode::client;
        return rules;
    }
    if (text == "shared") {
        rules.mode = scope_mode::shared;
        return rules;
    }
    constexpr std::string_view prefix = "header:";
    if (!text.starts_with(prefix) || !is_token(text.substr(prefix.size()))) return std::nullopt;
    rules.mode = scope_mode::header;
    rules.header = text.substr(prefix.size());
    std::transform(rules.header.begin(), rules.header.end(), rules.header.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
    return rules;
}

namespace {

// Callers repeat their credential with every request. Remembers one a thread, compared in full; it is in memory for the
// connection's sake anyway.
digest credential_digest(std::string_view secret, std::string_view message) {
    struct remembered {
        std::string secret, message;
        digest value{};
    };
    thread_local remembered last;
    if (last.message != message || last.secret != secret)
        last = {std::string(secret), std::string(message), hmac_sha256(secret, message)};
    return last.value;
}

}  // namespace

scope scope_of(const scope_rules& rules, const caller& who) {
    thread_local std::string message;  // holds no credential beyond the next request of this thread
    const std::string_view secret = rules.secret.empty() ? published_secret : std::string_view(rules.secret);
    scope result;

    begin(message, "credential");
    result.anonymous = !append_credentials(message, who);
    if (result.anonymous) begin(message, "anonymous");
    append_accounts(message, who);
    result.credential = credential_digest(secret, message);

    switch (rules.mode) {
        case scope_mode::credential:
            result.value = result.credential;
            if (who.tenant.empty()) return result;
            part(message, 's', who.tenant);
            result.value = hmac_sha256(secret, message);
            return result;
        case scope_mode::client:
            if (who.client.empty()) {
                result.why = reason::unauthorized;
                return result;
            }
            begin(message, "client");
            part(message, 'n', who.client);
            break;
        case scope_mode::shared:
            begin(message, result.anonymous ? "shared-anonymous" : "shared");
            break;
        case scope_mode::header:
            if (!trusted(rules, who.peer) || who.headers.count(rules.header) != 1) {
                result.why = reason::untrusted_scope;
                return result;
            }
            begin(message, result.anonymous ? "header-anonymous" : "header");
            part(message, 'h', rules.header);
            part(message, '=', *who.headers.find(rules.header));
            break;
    }
    append_accounts(message, who);
    if (!who.tenant.empty()) part(message, 's', who.tenant);
    result.value = hmac_sha256(secret, message);
    return result;
}

digest caller_id(const scope_rules& rules, const caller& who) {
    std::string message;
    if (!who.client.empty()) {
        begin(message, "caller-client");
        part(message, 'n', who.client);
    } else if (rules.mode == scope_mode::header && trusted(rules, who.peer) && who.headers.count(rules.header) == 1) {
        begin(message, "caller-header");
        part(message, '=', *who.headers.find(rules.header));
    } else {
        begin(message, "caller-credential");
        (void)append_credentials(message, who);
    }
    return sha256(message);
}

bool scope_field(std::string_view name) noexcept {
    const auto named = [&](std::string_view known) { return iequals(name, known); };
    return std::any_of(std::begin(credential_fields), std::end(credential_fields), named) ||
           std::any_of(std::begin(account_fields), std::end(account_fields), named);
}

}  // namespace idem::cache
