#pragma once
// The canonical form of a request body: one byte string that all equivalent requests share. The rules, with test
// vectors, stand in cache/README.md. Keys sorted by code point, numbers and strings written as RFC 8785 does, integers
// beyond 2^53 keep their digits, top-level null equals absent, ignored members left out, key order kept where it
// reaches the model.
#include <memory>
#include <string_view>

#include "cache/request/rules.hpp"
#include "upstream/base/reason.hpp"
#include "upstream/dialect/dialect.hpp"

namespace idem::cache {

struct canonical_form {
    reason why = reason::none;  // not none: refused, `text` is empty
    std::string_view text;      // valid until the next call on the same object
};

/// Reuses its buffers; one a thread. Bounded: depth 256 (recursion too), memory within a small multiple of
/// the body, time linear in it but for the sorting of keys. What a long body needed is given back on the next call.
/// Refuses with body_not_json, body_invalid_utf8, body_duplicate_key, body_too_deep, body_number_range, and bodies
/// above 512 MiB with body_too_large. The text need not be padded.
class canonicalizer {
public:
    canonicalizer();
    ~canonicalizer();
    canonicalizer(canonicalizer&&) noexcept;
    canonicalizer& operator=(canonicalizer&&) noexcept;
    [[nodiscard]] canonical_form canonicalize(std::string_view json, const upstream::dialect::body_rules& rules,
                                              std::size_t most_notes = std::string_view::npos);
    /// The same with rules made ready once. A body that needs more than `most_notes` is refused with body_encoding: a
    /// note is what has to be remembered of a member until its object is in order, up to 120 bytes.
    [[nodiscard]] canonical_form canonicalize(std::string_view json, const rule_set& rules,
                                              std::size_t most_notes = std::string_view::npos);

private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace idem::cache
