#pragma once
// A stored answer. Immutable once made; shared between threads by pointer. First writer wins, so an entry never changes
// for a key while it lives.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/request/key.hpp"
#include "upstream/base/digest.hpp"
#include "upstream/base/reason.hpp"
#include "upstream/determinism/guarantee.hpp"
#include "upstream/dialect/dialect.hpp"

namespace idem::cache {

/// Milliseconds since the Unix epoch; of the store's clock where the store has one.
using unix_ms = std::int64_t;

struct entry {
    // The fixed head: readable without decoding the rest.
    cache_key key;
    digest request;  // request digest
    std::uint64_t canonical_size = 0;
    id128 fill;   // random; names the fill that made this entry
    id128 ban{};  // ban id current when the fill began; zero until bans exist
    id128 epoch;
    digest environment;                        // environment id
    upstream::determinism::guarantee promise;  // of the fill
    unix_ms created = 0;                       // when the answer was complete
    unix_ms fresh_until = 0;                   // soft lifetime
    unix_ms keep_until = 0;                    // store lifetime: the store may forget it after this

    upstream::dialect::form form = upstream::dialect::form::json;
    std::string dialect;
    std::string model;  // as the request names it
    std::string upstream;
    std::string replica;
    std::string route;
    std::string scope_tag;  // 16 hex digits of the scope, for per-scope shares
    std::vector<std::string> tags;
    std::string content_type;                                  // as the upstream sent it
    std::vector<std::pair<std::string, std::string>> headers;  // the allow-listed ones
    std::string origin_request_id;
    digest output;  // SHA-256 of the normalised output
    std::optional<upstream::dialect::usage> tokens;
    std::optional<upstream::dialect::byte_range> usage_event;  // in body
    std::uint32_t upstream_ms = 0;                             // what the fill cost, for saved seconds
    bool length_limited = false;

    std::string body;  // raw decoded bytes as the upstream sent them
};
using entry_ptr = std::shared_ptr<const entry>;

/// Bytes an entry is charged with in memory: body, head and bookkeeping.
[[nodiscard]] std::size_t charge(const entry& e) noexcept;

inline constexpr std::uint16_t entry_format = 2;

enum class compression : std::uint8_t { none = 0, zstd = 1 };

/// One self-describing blob (layout.hpp): fixed head (magic, format, key, fill id, ban id, times, lengths), variable
/// head, body (compressed where that helps), checksum over all of it. Empty for an entry whose texts, tags and headers
/// together are above 256 KiB: it cannot be stored.
[[nodiscard]] std::string encode(const entry& e, compression c);

struct decoded {
    entry_ptr value;            // null if refused
    reason why = reason::none;  // entry_corrupt or entry_unreadable
};
/// Hostile input: any bytes. `expected` must equal the embedded key. Allocates at most `body_cap` for the body and, for
/// the rest, at most sixteen times the variable head, which is capped. entry_unreadable also names a whole entry whose
/// body is above `body_cap`.
[[nodiscard]] decoded decode(std::string_view blob, const cache_key& expected, std::size_t body_cap);

/// What can be read off the fixed head alone, of any format that keeps its first fields.
struct entry_head {
    std::uint16_t format = 0;
    cache_key key;
    id128 fill;
    id128 ban;
    unix_ms created = 0, fresh_until = 0, keep_until = 0;
};
[[nodiscard]] std::optional<entry_head> decode_head(std::string_view blob) noexcept;

}  // namespace idem::cache
