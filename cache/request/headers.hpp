#pragma once
// The parts of a request head that enter the digest, in their normal form, and those that are credentials and never do.
// Pure; any thread.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "upstream/http/fields.hpp"

namespace idem::cache {

/// Query parameters that carry a credential. They belong to the scope, and neither to the digest nor to a log.
inline constexpr std::string_view credential_parameters[] = {"key",    "api_key",      "api-key",
                                                             "apikey", "access_token", "subscription-key"};

/// The query as it enters the digest: percent-escapes of unreserved characters resolved and the rest in capitals (RFC
/// 3986 section 6.2.2), credentials and `ignored` names removed, pairs sorted by name; pairs of one name keep their
/// order. `query` is without `?`.
[[nodiscard]] std::string normalise_query(std::string_view query, std::span<const std::string_view> ignored = {});

/// The target without the credentials in its query; all else stays as it is.
[[nodiscard]] std::string without_credentials(std::string_view target);

/// The query with its credentials' values replaced by `***`, for logs.
[[nodiscard]] std::string redact_query(std::string_view query);

/// Values of credential parameters in the order of the query, name and value percent-decoded where unreserved.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> query_credentials(std::string_view query);

/// The fields that a dialect names (lower case), for request_parts: sorted by name; the comma-separated values of all
/// fields of that name trimmed, sorted, de-duplicated and joined by ",". Absent and empty ones are left out.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> digest_headers(const upstream::http::fields& fields,
                                                                              std::span<const std::string_view> names);

/// True if the request's content type is JSON (application/json or a +json type of RFC 6839, in UTF-8) or is not given.
[[nodiscard]] bool json_content(const upstream::http::fields& fields) noexcept;

/// Path and query of an origin-form target.
struct target_parts {
    std::string_view path;
    std::string_view query;
};
[[nodiscard]] target_parts split_target(std::string_view target) noexcept;

}  // namespace idem::cache
