#pragma once
// What the server adds to the head of an answer: Date, Connection, Keep-Alive and framing. Pure apart from the clock
// that head_fields reads once a second. One head_fields a thread.
#include <cstdint>
#include <string>
#include <string_view>

#include "upstream/http/message.hpp"
#include "upstream/net/net.hpp"

namespace idem::gateway::http {

namespace net = upstream::net;
using upstream::http::body_framing;

/// What becomes of the connection after an answer.
enum class afterwards : std::uint8_t { keep_alive, close, upgrade };

/// "Date: …" and the connection fields, ready to append.
class head_fields {
public:
    explicit head_fields(net::duration keep_alive);
    [[nodiscard]] std::string_view of(afterwards what, net::time_point now);

private:
    void refresh(net::time_point now);

    std::string connection_;  // the lines for an answer after which the connection stays
    std::string keep_, close_, upgrade_;
    net::time_point fresh_until_{};
};

/// The status of a head that begins with "HTTP/1.1 NNN"; 0 if it does not.
[[nodiscard]] unsigned status_in(std::string_view head) noexcept;

/// How an answer goes over the wire.
struct answer_framing {
    body_framing framing = body_framing::none;  // none: the answer ends with its head
    std::uint64_t length = 0;
    bool keep_alive = true;
};

/// The framing for an answer as the request allows it: nothing after HEAD, 1xx, 204 and 304 (RFC 9112 section 6.3),
/// chunked only for HTTP/1.1 clients; an HTTP/1.0 client gets a body of unknown length until the connection closes.
[[nodiscard]] answer_framing frame_answer(unsigned status, bool to_head, unsigned version, bool keep_alive,
                                          body_framing wanted, std::uint64_t length) noexcept;

/// Appends the framing fields, `fields` and the empty line. `wanted` and `length` as given to frame_answer: an answer
/// to HEAD tells the length that it does not send.
void finish_head(std::string& head, unsigned status, const answer_framing& how, body_framing wanted,
                 std::uint64_t length, std::string_view fields);

}  // namespace idem::gateway::http
