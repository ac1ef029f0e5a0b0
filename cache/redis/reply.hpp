#pragma once
// RESP2 replies. hiredis' redisReader does the parsing (https://redis.io/docs/reference/protocol-spec/); our own
// object functions make its objects, because version 0.14 has no cap on array elements and would ask for the memory
// that a hostile header names. No I/O; one thread.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/redis/fault.hpp"

struct redisReader;

namespace idem::cache::redis {

enum class reply_type : std::uint8_t { nil, string, status, error, integer, array };

struct reply {
    reply_type type = reply_type::nil;
    std::int64_t integer = 0;
    std::string text;             // string, status and error
    std::vector<reply> elements;  // array
};

struct reply_limits {
    std::size_t bytes = (std::size_t{4} << 20) + (std::size_t{128} << 10);  // of one reply, framing included
    std::size_t elements = 4096;                                            // of all arrays in one reply together
};

/// Bytes in, replies out, however the bytes are cut. Memory stays within about twice `limits.bytes` plus one slice.
/// An error is for ever: the connection that the bytes came from cannot be understood any more.
class reply_parser {
public:
    /// Larger slices make redisReader move its buffer again and again (hiredis #656).
    static constexpr std::size_t max_slice = std::size_t{64} << 10;

    explicit reply_parser(reply_limits limits);
    ~reply_parser();
    reply_parser(const reply_parser&) = delete;
    reply_parser& operator=(const reply_parser&) = delete;

    /// At most max_slice bytes; call next() until it is empty before feeding again.
    void feed(std::string_view slice) noexcept;
    /// The next complete reply; empty when more bytes are needed or error() is set.
    [[nodiscard]] std::optional<reply> next() noexcept;
    /// none, malformed or reply_too_large.
    [[nodiscard]] fault error() const noexcept { return error_; }
    /// True between two replies: nothing of a next one has come.
    [[nodiscard]] bool idle() const noexcept { return pending_ == 0; }

private:
    struct builder;
    struct freer {
        void operator()(redisReader* r) const noexcept;
    };
    [[nodiscard]] bool line_too_long() const noexcept;

    reply_limits limits_;
    reply root_;                // the reply in the making; redisReader holds a pointer to it
    std::size_t elements_ = 0;  // announced by the array headers of root_
    std::size_t pending_ = 0;   // bytes since the last complete reply
    bool over_limit_ = false;   // an object function refused
    fault error_ = fault::none;
    std::unique_ptr<redisReader, freer> reader_;
};

}  // namespace idem::cache::redis
