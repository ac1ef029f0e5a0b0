#pragma once
// The canonical form of a request body: one byte string that all equivalent requests share. The rules, with test vectors,
// stand in cache/README.md. Keys sorted by code point, numbers and strings written as RFC 8785 does, integers beyond 2^53
// keep their digits, top-level null equals absent, ignored members left out, key order kept where it reaches the model.
#include <memory>
#include <string_view>

#include "upstream/base/reason.hpp"
#include "upstream/dialect/dialect.hpp"

namespace idem::cache {

struct canonical_form {
    reason why = reason::none;  // not none: refused, `text` is empty
    std::string_view text;      // valid until the next call on the same object
};

/// Reuses its buffers; one a thread. Bounded: depth 256, memory within a small multiple of the body.
class canonicalizer {
public:
    canonicalizer();
    ~canonicalizer();
    canonicalizer(canonicalizer&&) noexcept;
    canonicalizer& operator=(canonicalizer&&) noexcept;
    [[nodiscard]] canonical_form canonicalize(std::string_view json, const upstream::dialect::body_rules& rules);

private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace idem::cache
