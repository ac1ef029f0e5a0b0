#pragma once
// One request of a client and its answer, as the pipeline sees it. Lives on the connection's thread, inside the session
// coroutine. The server owns framing, Connection, Keep-Alive and Date; the handler owns everything else.
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "upstream/base/reason.hpp"
#include "upstream/http/message.hpp"
#include "upstream/net/net.hpp"

namespace idem::gateway::http {

namespace net = upstream::net;
using upstream::http::body_framing;
using upstream::http::request_head;

/// Who is at the other end of the connection.
struct peer {
    boost::asio::ip::address address;
    std::uint16_t port = 0;
    bool tls = false;
    std::string address_text;  // `address`, for logs
    std::string certificate;   // SHA-256 of the client certificate (hex), empty without one
};

/// A complete answer that needs no waiting. `head` is a status line and fields, each ended by CRLF, without framing
/// fields and without the blank line. The body is up to three pieces that `keep` keeps alive until they are written.
struct quick_reply {
    std::string head;
    std::array<std::string_view, 3> body{};
    std::shared_ptr<const void> keep;
    std::uint64_t token = 0;  // the handler's own, for done()
};

/// Body bytes of the request, or why there are none.
struct body_piece {
    std::string_view bytes;     // valid until the next read; empty with why == none: the body is complete
    reason why = reason::none;  // request_timeout, bad_request, client_gone, …
};

class transaction {
public:
    virtual ~transaction() = default;
    [[nodiscard]] virtual const request_head& head() const noexcept = 0;
    [[nodiscard]] virtual const peer& client() const noexcept = 0;
    [[nodiscard]] virtual net::time_point started() const noexcept = 0;  // first byte of the head was there
    [[nodiscard]] virtual net::executor where() const noexcept = 0;

    /// Next piece of the decoded body; sends 100-continue first where it was asked for.
    [[nodiscard]] virtual net::task<body_piece> read_body() = 0;

    /// Whole answer with Content-Length (none for HEAD, 1xx, 204, 304).
    [[nodiscard]] virtual net::task<net::error_code> send(std::string_view head, std::string_view body) = 0;
    /// Answer of unknown length: chunked (HTTP/1.0: until close); or `length` known. The head shares the first body
    /// bytes' write if they follow at once, and goes out alone otherwise.
    [[nodiscard]] virtual net::task<net::error_code> begin(std::string_view head, body_framing framing,
                                                           std::uint64_t length) = 0;
    /// An empty view writes nothing: a zero-length chunk would end the body.
    [[nodiscard]] virtual net::task<net::error_code> write(std::string_view bytes) = 0;
    /// Clean end. `trailers`: lines ended by CRLF, sent only if the client said `TE: trailers`.
    [[nodiscard]] virtual net::task<net::error_code> finish(std::string_view trailers = {}) = 0;
    /// Never a clean end: the connection closes without the last chunk, with a reset where possible. Any pending await
    /// on this transaction ends with operation_aborted. Idempotent.
    virtual void abort() noexcept = 0;
    /// The connection closes after this answer.
    virtual void close_after() noexcept = 0;

    /// Calls `gone` once, on this thread, if the client's end of the connection goes away before the answer is
    /// complete. Replaces an earlier one; an empty function stops watching.
    virtual void watch_gone(std::function<void()> gone) = 0;

    /// An answer was begun: no other status can be sent any more.
    [[nodiscard]] virtual bool begun() const noexcept = 0;
    /// Bytes of this request and its answer on the wire, heads and framing included.
    [[nodiscard]] virtual std::uint64_t bytes_out() const noexcept = 0;
    [[nodiscard]] virtual std::uint64_t bytes_in() const noexcept = 0;

    /// For a WebSocket tunnel after a 101 written with begin(): raw bytes both ways; read gives empty at the end.
    [[nodiscard]] virtual net::task<body_piece> read_raw() = 0;
    [[nodiscard]] virtual net::task<net::error_code> write_raw(std::string_view bytes) = 0;
};

/// What a server does with requests. One object a thread; all calls come from that thread.
class handler {
public:
    virtual ~handler() = default;
    /// The shop window: the whole request (head and body) is in memory; answer from memory alone or return false. Must
    /// not block, await or allocate more than it has to.
    [[nodiscard]] virtual bool answer_at_once(const request_head& head, std::string_view body, const peer& client,
                                              net::time_point started, quick_reply& out) = 0;
    /// After the quick answer was written, or failed to be.
    virtual void done(const quick_reply& reply, std::uint64_t bytes_in, std::uint64_t bytes_out,
                      net::error_code ec) = 0;
    /// The long way. On return the answer is complete, or the session aborts the connection.
    [[nodiscard]] virtual net::task<void> serve(transaction& t) = 0;
    /// A request that the server itself refused before the handler could see it whole: for the log, the metrics and the
    /// error body (JSON), which the server sends with `status` before it closes the connection. `head` holds what was
    /// understood, perhaps nothing. With client_gone (499) there is nobody to send it to.
    [[nodiscard]] virtual std::string refused(const request_head& head, const peer& client, unsigned status, reason why,
                                              std::string_view detail) = 0;
};

}  // namespace idem::gateway::http
