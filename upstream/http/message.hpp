#pragma once
// Heads of HTTP/1.1 messages and a sans-I/O parser for both directions. Strict where readers disagree: lines are
// checked before they are understood, framing is decided before the first body byte, trailers never become headers,
// everything is capped. The events do not depend on how the input was split. Used by the gateway's server and by the
// upstream client.
//
// The loop: p = next(input); drop p.consumed bytes from the front of the input, whatever the event; act on the event.
// After `head` go on with what is left, even if that is nothing: the body may be empty.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "upstream/base/reason.hpp"
#include "upstream/http/fields.hpp"

namespace idem::upstream::http {

enum class body_framing : std::uint8_t {
    none,             // no body follows
    length,           // Content-Length
    chunked,          // Transfer-Encoding: chunked
    close_delimited,  // response only: until the connection closes
};

struct request_head {
    std::string method;
    std::string target;     // origin-form or, as accepted from a client, made origin-form from absolute-form
    unsigned version = 11;  // 10 or 11
    fields headers;         // as sent, including hop-by-hop fields
    body_framing framing = body_framing::none;
    std::uint64_t length = 0;  // with body_framing::length
    bool keep_alive = true;
    bool expect_continue = false;
    bool upgrade = false;   // Connection: upgrade with an Upgrade field
    void clear() noexcept;  // keeps memory
};

struct response_head {
    unsigned status = 0;
    std::string reason_phrase;
    unsigned version = 11;
    fields headers;
    body_framing framing = body_framing::none;
    std::uint64_t length = 0;
    bool keep_alive = true;
    void clear() noexcept;
};

struct parse_limits {
    std::uint32_t head_bytes = 32 * 1024;
    std::uint32_t head_fields = 100;
    std::uint32_t target_bytes = 8 * 1024;
    std::uint32_t chunk_extension_bytes = 256;
    std::uint32_t trailer_bytes = 8 * 1024;
};

enum class parse_event : std::uint8_t {
    need_more,  // give more bytes (append to what was not consumed; framing bytes may have been)
    head,       // the head is complete and framed soundly; body follows through next()
    body,       // `body` holds decoded bytes, a view into the input
    complete,   // the message is complete; unconsumed bytes belong to the next one
    error,      // `why` and `detail`: the connection is not usable any more
};

struct parsed {
    parse_event event = parse_event::need_more;
    std::size_t consumed = 0;  // bytes of the input used up, including those that `body` views
    std::string_view body;
    reason why =
        reason::none;  // request: bad_request, unsupported_framing, header_too_large, …; response: upstream_malformed
    std::string_view detail;  // a static sentence for the error body and the log
};

/// Parses requests. One object a connection; reset() between messages keeps memory. Not thread-safe.
class request_parser {
public:
    explicit request_parser(parse_limits limits = {});
    ~request_parser();
    request_parser(request_parser&&) noexcept;
    request_parser& operator=(request_parser&&) noexcept;
    [[nodiscard]] parsed next(std::string_view in);
    [[nodiscard]] const request_head& head() const noexcept;
    /// Head and body were read to their end. Trailers and chunk headers are checked, capped and dropped.
    [[nodiscard]] bool complete() const noexcept;
    void reset();

private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

/// Parses responses. `head_only` for answers to HEAD. 1xx heads other than 101 are reported as `head` with their
/// status; the caller resets and goes on.
class response_parser {
public:
    explicit response_parser(parse_limits limits = {});
    ~response_parser();
    response_parser(response_parser&&) noexcept;
    response_parser& operator=(response_parser&&) noexcept;
    [[nodiscard]] parsed next(std::string_view in);
    /// The connection reached its end. `complete` for close-delimited bodies, `error` with framing_incomplete
    /// otherwise.
    [[nodiscard]] parsed finish();
    [[nodiscard]] const response_head& head() const noexcept;
    [[nodiscard]] bool complete() const noexcept;
    void reset(bool head_only = false);

private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

/// Appends "HTTP/1.1 200 OK\r\n" without allocation where the phrase is known.
void append_status_line(std::string& out, unsigned status, std::string_view phrase = {});
void append_field(std::string& out, std::string_view name, std::string_view value);
/// True for Connection, Keep-Alive, Proxy-Connection, TE, Trailer, Transfer-Encoding, Upgrade, Proxy-Authenticate,
/// Proxy-Authorization (RFC 9110 section 7.6.1) and for names that `connection` (the Connection field's value) lists.
[[nodiscard]] bool hop_by_hop(std::string_view name, std::string_view connection) noexcept;

}  // namespace idem::upstream::http
