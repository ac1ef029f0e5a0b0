#pragma once
// Content-Encoding of a request body, undone for the key only: what goes upstream are the original bytes. gzip (RFC
// 1952) and zstd (RFC 8878, window at most 8 MiB as RFC 9659 says) are known. Hostile input: the result is bounded by a
// cap and by the expansion ratio, so that a bomb costs no more than a honest body of its size; together with what the
// canonical form of a decoded body may cost (identify) memory stays below 100 times the bytes that were sent. Any
// thread.
#include <cstddef>
#include <string>
#include <string_view>

#include "upstream/base/reason.hpp"

namespace idem::cache {

/// A body may grow to this many times its size, or to expansion_floor bytes if that is more.
inline constexpr std::size_t expansion_ratio = 16;
inline constexpr std::size_t expansion_floor = 16 * 1024;

struct plain_body {
    reason why =
        reason::none;       // body_encoding: unknown or repeated coding, broken, incomplete, or grown beyond the bounds
    std::string_view text;  // the body itself where there is no coding, else a view of `scratch`
};

/// `coding` is the value of Content-Encoding, empty where absent. `cap` bounds the result in bytes. `scratch` is
/// reused.
[[nodiscard]] plain_body decode_body(std::string_view coding, std::string_view body, std::size_t cap,
                                     std::string& scratch);

}  // namespace idem::cache
