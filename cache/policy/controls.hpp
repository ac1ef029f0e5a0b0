#pragma once
// What a client may ask of the cache: the request directives of Cache-Control (RFC 9111 section 5.2.1), the Idem-*
// fields, and the spellings of other gateways. Pure; any thread; no allocation.
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "upstream/http/fields.hpp"

namespace idem::cache {

/// Views are into the fields that were parsed.
struct controls {
    bool no_cache = false;                        // compute anew
    bool no_store = false;                        // do not store; a stored answer may be given
    bool only_if_cached = false;                  // 504 rather than compute
    std::optional<std::chrono::seconds> max_age;  // oldest answer that is acceptable
    std::optional<std::chrono::seconds>
        stale_if_error;                       // how stale an answer may be where the upstream fails (RFC 5861)
    std::optional<std::chrono::seconds> ttl;  // Idem-TTL: wanted lifetime, capped by policy
    std::uint32_t sample = 0;                 // Idem-Sample
    std::string_view name_space;              // Idem-Namespace; empty where absent
    std::string_view policy;                  // Idem-Policy; empty where absent
    std::string_view tags;                    // Idem-Tags as sent; split_tags() takes it apart
    std::string_view idempotency_key;         // Idempotency-Key, without quotes; empty where absent
};

/// A control that does not parse: reason bad_control, status 400.
struct control_error {
    std::string_view field;     // as we spell it
    std::string_view expected;  // static text
    [[nodiscard]] std::string message() const;
};

struct parsed_controls {
    controls value;
    std::optional<control_error> error;  // the first one found
};

/// Unknown directives and malformed aliases are ignored; a known control that is malformed, or an Idem-* field or
/// Idempotency-Key that is sent twice, is an error. Numbers of seconds beyond 2^31 count as 2^31 (RFC 9111
/// section 1.2.2).
[[nodiscard]] parsed_controls parse_controls(const upstream::http::fields& fields) noexcept;

/// Seconds: digits, optionally followed by s, m, h or d ("90", "12h", "30d"); nullopt for anything else, for 0, and
/// beyond 2^31 seconds.
[[nodiscard]] std::optional<std::chrono::seconds> parse_ttl(std::string_view text) noexcept;

/// Tags in the order sent, without repetitions.
[[nodiscard]] std::vector<std::string> split_tags(std::string_view tags);

inline constexpr std::size_t most_tags = 16;
inline constexpr std::size_t longest_tag = 128;
inline constexpr std::size_t longest_namespace = 128;
inline constexpr std::size_t longest_idempotency_key = 255;
/// How long an Idempotency-Key stays bound to the request that it came with first.
inline constexpr std::chrono::hours idempotency_lasts{24};

/// True for fields that speak to the gateway alone and must not go upstream: every Idem-* field and the aliases.
/// Cache-Control is not among them: it is meant for every cache on the way.
[[nodiscard]] bool control_field(std::string_view name) noexcept;

}  // namespace idem::cache
