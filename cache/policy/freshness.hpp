#pragma once
// How long an answer may be used, and for whom. Pure functions of the entry's times, the client's controls and the
// policy; the clock is an argument, and for shared times it is the store's.
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cache/entry/entry.hpp"
#include "cache/policy/controls.hpp"

namespace idem::cache {

enum class freshness : std::uint8_t {
    fresh,    // answers
    too_old,  // within its lifetime, but older than the client's max-age: computed anew, the entry stays
    expired,  // past its soft lifetime: may answer only where the upstream fails
    dead,     // past its store lifetime: never answers
};
[[nodiscard]] freshness judge(unix_ms created, unix_ms fresh_until, unix_ms keep_until, const controls& wanted,
                              unix_ms now) noexcept;

/// Whether an expired entry may stand in for an upstream that fails: within the client's stale-if-error (RFC 5861
/// section 4) where it gave one, else as long as the store keeps it if the policy says so. `no-cache` and `max-age`
/// forbid it.
[[nodiscard]] bool may_serve_stale(unix_ms fresh_until, unix_ms keep_until, const controls& wanted, bool policy_allows,
                                   unix_ms now) noexcept;

/// Whole seconds since the answer was complete, for `Age` (RFC 9111 section 5.1); 0 where clocks disagree.
[[nodiscard]] std::int64_t age_seconds(unix_ms created, unix_ms now) noexcept;

/// When an answer was complete that comes in now with this `Age`, from a cache on the way (RFC 9111 section 4.2.3). A
/// malformed one says nothing; too many digits are 2^31 seconds (section 1.2.2).
[[nodiscard]] unix_ms created_at(std::string_view age, unix_ms now) noexcept;

/// What a policy says about lifetimes.
struct lifetime_rules {
    std::chrono::milliseconds ttl;    // soft lifetime, and the most that Idem-TTL can ask for
    std::chrono::milliseconds stale;  // kept beyond it
};
struct lifetime {
    unix_ms fresh_until = 0;
    unix_ms keep_until = 0;
};
/// Of an answer that came in now, however old it was then. Idem-TTL shortens and never lengthens.
[[nodiscard]] lifetime lifetime_of(const lifetime_rules& rules, std::optional<std::chrono::seconds> wanted,
                                   unix_ms now) noexcept;

}  // namespace idem::cache
