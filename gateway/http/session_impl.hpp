#pragma once
// Bodies of session<Stream>, compiled once per kind of stream by session_plain.cpp and session_tls.cpp.
#include <sys/socket.h>

#include <array>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <cerrno>
#include <charconv>
#include <utility>

#include "gateway/http/session.hpp"
#include "gateway/http/tls.hpp"

namespace idem::gateway::http {

namespace asio = boost::asio;

/// Awaits an operation without the coroutine frame that use_awaitable makes for each.
inline constexpr asio::as_tuple_t<asio::deferred_t> direct{asio::deferred};

inline constexpr std::size_t slice_bytes = 64 * 1024;    // one deadline covers so much of a write
inline constexpr std::size_t upload_bytes = 32 * 1024;   // free space for streaming a request body
inline constexpr std::size_t kept_bytes = 8 * 1024;      // what an idle connection may keep of a scratch string
inline constexpr std::size_t linger_bytes = 256 * 1024;  // read and dropped before a close
inline constexpr net::duration linger_time = std::chrono::seconds(2);

template <class Stream>
session<Stream>::session(Stream stream, peer client, std::shared_ptr<server_state> server)
    : server_(std::move(server)),
      stream_(std::move(stream)),
      client_(std::move(client)),
      parser_(server_->limits.parse),
      read_deadline_(server_->deadlines, &read_expired, this),
      write_deadline_(server_->deadlines, &write_expired, this),
      now_(net::clock::now()) {
    server_->connections.push_back(*this);
    server_->open.add();
}

template <class Stream>
session<Stream>::~session() {
    server_->open.remove();
}

template <class Stream>
net::task<void> session<Stream>::run(std::shared_ptr<session>) {
    if constexpr (tls) {
        const bool ready = co_await handshake();
        if (!ready) co_return;
    }
    begin_message();
    for (;;) {
        const step next = advance();
        if (next == step::close) break;
        if (next == step::refuse) {
            co_await refuse(why_, detail_);
            break;
        }
        if (next == step::read) {
            const asio::mutable_buffer tail = start_read();
            auto [ec, n] = co_await stream_.async_read_some(tail, direct);
            const reason why = end_read(ec, n);
            if (why == reason::none) continue;
            co_await lost(why);
            break;
        }
        if (next == step::whole && server_->handle.answer_at_once(head(), body_, client_, started_, quick_)) {
            gather out = frame_quick();
            net::error_code ec = write_now(out);
            if (!ec && !out.empty()) {
                const net::error_code rest = co_await write_all(out);
                ec = rest;
            }
            quick_done(ec);
        } else {
            co_await answer_at_length();
        }
        if (!open_) break;
        begin_message();
    }
    co_await close();
}

// ---- Reading
// ---------------------------------------------------------------------------------------------------------

template <class Stream>
void session<Stream>::begin_message() {
    parser_.reset();
    if (in_.capacity() > read_buffer::idle_bytes) in_.shrink();
    if (chunks_.capacity() > kept_bytes) std::string().swap(chunks_);
    if (pending_.capacity() > kept_bytes) std::string().swap(pending_);
    chunks_.clear();
    pending_.clear();
    body_ = {};
    phase_ = phase::head;
    in_message_ = false;
    continued_ = false;
    body_failure_ = reason::none;
    bytes_in_ = bytes_out_ = 0;
    begun_ = finished_ = false;
    pace_.restart();
    quick_.head.clear();
    quick_.body = {};
    quick_.token = 0;
}

template <class Stream>
typename session<Stream>::step session<Stream>::advance() {
    switch (phase_) {
        case phase::head:
            return advance_head();
        case phase::counted_body:
            return gather_counted();
        case phase::chunked_body:
            return gather_chunks();
    }
    return step::close;
}

template <class Stream>
typename session<Stream>::step session<Stream>::need(net::time_point limit, std::size_t bytes) noexcept {
    limit_ = limit;
    wanted_ = bytes;
    return step::read;
}

template <class Stream>
typename session<Stream>::step session<Stream>::refuse_with(reason why, std::string_view detail) noexcept {
    why_ = why;
    detail_ = detail;
    return step::refuse;
}

template <class Stream>
typename session<Stream>::step session<Stream>::advance_head() {
    const server_limits& limits = server_->limits;
    if (in_.empty()) {
        if (!first_ && server_->draining) return step::close;
        return need(now_ + (first_ ? limits.head : limits.keep_alive), 1);
    }
    if (!in_message_) {
        in_message_ = true;
        first_ = false;
        started_ = now_;
    }
    const upstream::http::parsed p = parser_.next(in_.view());
    in_.consume(p.consumed);
    bytes_in_ += p.consumed;
    switch (p.event) {
        case upstream::http::parse_event::need_more:
            return need(started_ + limits.head, 1);
        case upstream::http::parse_event::head:
            return after_head();
        case upstream::http::parse_event::error:
            return refuse_with(p.why, p.detail);
        case upstream::http::parse_event::body:
        case upstream::http::parse_event::complete:
            break;
    }
    return step::close;
}

/// Small bodies are gathered and offered whole; others, and those that wait for a 100 Continue, go to the handler at
/// once.
template <class Stream>
typename session<Stream>::step session<Stream>::after_head() {
    const request_head& h = head();
    const std::uint64_t quick = server_->limits.quick_body;
    if (h.expect_continue) return step::serve;
    switch (h.framing) {
        case body_framing::chunked:
            phase_ = phase::chunked_body;
            return gather_chunks();
        case body_framing::length:
            if (h.length > quick) return step::serve;
            phase_ = phase::counted_body;
            return gather_counted();
        case body_framing::none:
        case body_framing::close_delimited:
            break;
    }
    phase_ = phase::counted_body;
    return gather_counted();
}

template <class Stream>
typename session<Stream>::step session<Stream>::gather_counted() {
    const std::size_t length = static_cast<std::size_t>(head().length);
    if (in_.size() < length) return need(pace_.wait(now_, server_->limits), length - in_.size());
    upstream::http::parsed p = parser_.next(in_.view());
    if (p.event == upstream::http::parse_event::body) {
        body_ = p.body;
        in_.consume(p.consumed);
        bytes_in_ += p.consumed;
        p = parser_.next({});
    }
    return step::whole;
}

template <class Stream>
typename session<Stream>::step session<Stream>::gather_chunks() {
    for (;;) {
        const upstream::http::parsed p = parser_.next(in_.view());
        in_.consume(p.consumed);
        bytes_in_ += p.consumed;
        chunks_.append(p.body);
        body_ = chunks_;
        switch (p.event) {
            case upstream::http::parse_event::body:
                if (chunks_.size() > server_->limits.quick_body) return step::serve;
                break;
            case upstream::http::parse_event::complete:
                return step::whole;
            case upstream::http::parse_event::error:
                return refuse_with(p.why, p.detail);
            case upstream::http::parse_event::need_more:
                return need(pace_.wait(now_, server_->limits), 1);
            case upstream::http::parse_event::head:
                return step::close;
        }
    }
}

template <class Stream>
asio::mutable_buffer session<Stream>::start_read() {
    const asio::mutable_buffer tail = asio::buffer(in_.prepare(wanted_), slice_bytes);
    read_timed_out_ = false;
    reading_ = true;
    read_deadline_.arm(limit_);
    return tail;
}

/// The deadline stays armed: the next read moves it, which is cheaper than disarming a thread's only one.
template <class Stream>
reason session<Stream>::end_read(net::error_code ec, std::size_t n) noexcept {
    reading_ = false;
    now_ = net::clock::now();
    if (!ec) {
        in_.commit(n);
        if (phase_ != phase::head) pace_.arrived(now_, n);
        return reason::none;
    }
    if (read_timed_out_) {
        server_->timed_out.add();
        return reason::request_timeout;
    }
    at_end_ = ec == asio::error::eof || ec == asio::ssl::error::stream_truncated;
    return reason::client_gone;
}

template <class Stream>
net::task<reason> session<Stream>::read_more() {
    const asio::mutable_buffer tail = start_read();
    auto [ec, n] = co_await stream_.async_read_some(tail, direct);
    co_return end_read(ec, n);
}

/// A read failed before the request was whole. Between requests that is how connections end; nobody is told.
template <class Stream>
net::task<void> session<Stream>::lost(reason why) {
    open_ = false;
    if (!in_message_) co_return;
    if (why == reason::request_timeout) {
        co_await refuse(why, phase_ == phase::head ? "the head took too long" : "the body took too long");
    } else if (phase_ != phase::head) {
        const std::string unsent = server_->handle.refused(head(), client_, status_of(why), why, "the client left");
        abort();
    }
}

template <class Stream>
net::task<body_piece> session<Stream>::read_body() {
    if (!body_.empty()) co_return body_piece{std::exchange(body_, {}), reason::none};
    if (body_failure_ != reason::none) co_return body_piece{{}, body_failure_};
    if (parser_.complete()) co_return body_piece{};
    if (head().expect_continue && !continued_ && !begun_) {
        continued_ = true;
        gather interim;
        interim.add("HTTP/1.1 100 Continue\r\n\r\n");
        const net::error_code ec = co_await write_all(interim);
        if (ec) body_failure_ = reason::client_gone;
    }
    if (phase_ == phase::head) phase_ = phase::counted_body;  // from here on reads are paced
    while (body_failure_ == reason::none) {
        const upstream::http::parsed p = parser_.next(in_.view());
        in_.consume(p.consumed);
        bytes_in_ += p.consumed;
        if (p.event == upstream::http::parse_event::body) co_return body_piece{p.body, reason::none};
        if (p.event == upstream::http::parse_event::complete) {
            start_watch();
            co_return body_piece{};
        }
        if (p.event == upstream::http::parse_event::error) {
            body_failure_ = p.why;
            break;
        }
        limit_ = pace_.wait(net::clock::now(), server_->limits);
        wanted_ = upload_bytes;
        const reason why = co_await read_more();
        body_failure_ = aborted_ ? reason::client_gone : why;
    }
    close_after_ = true;
    co_return body_piece{{}, body_failure_};
}

template <class Stream>
net::task<body_piece> session<Stream>::read_raw() {
    if (in_.empty()) {
        limit_ = net::clock::now() + server_->limits.body_total;
        wanted_ = upload_bytes;
        const reason why = co_await read_more();
        if (why != reason::none) co_return body_piece{{}, at_end_ ? reason::none : why};
    }
    const std::string_view bytes = in_.view();
    in_.consume(bytes.size());
    bytes_in_ += bytes.size();
    co_return body_piece{bytes, reason::none};
}

// ---- Answering
// -------------------------------------------------------------------------------------------------------

template <class Stream>
bool session<Stream>::stays_open() const noexcept {
    return head().keep_alive && parser_.complete() && !close_after_ && !server_->draining;
}

template <class Stream>
void session<Stream>::frame(std::string& out, body_framing wanted, std::uint64_t length) {
    const unsigned status = status_in(out);
    how_ = frame_answer(status, head().method == "HEAD", head().version, stays_open(), wanted, length);
    if (status == 101) how_.keep_alive = false;
    const afterwards after = status == 101     ? afterwards::upgrade
                             : how_.keep_alive ? afterwards::keep_alive
                                               : afterwards::close;
    finish_head(out, status, how_, wanted, length, server_->fields.of(after, now_));
    if (!how_.keep_alive) open_ = false;
}

template <class Stream>
gather session<Stream>::frame_quick() {
    std::uint64_t length = 0;
    for (const std::string_view piece : quick_.body) length += piece.size();
    frame(quick_.head, body_framing::length, length);
    gather out;
    out.add(quick_.head);
    if (how_.framing == body_framing::length) {
        for (const std::string_view piece : quick_.body) out.add(piece);
    }
    return out;
}

template <class Stream>
void session<Stream>::quick_done(net::error_code ec) {
    if (ec) open_ = false;
    finished_ = !ec;
    server_->handle.done(quick_, bytes_in_, bytes_out_, ec);
    quick_.keep.reset();
}

/// What the kernel takes at once; the rest stays in `out`. Nothing for TLS, whose stream only writes asynchronously.
template <class Stream>
net::error_code session<Stream>::write_now(gather& out) noexcept {
    if constexpr (!tls) {
        while (!out.empty()) {
            net::error_code ec;
            const std::size_t n = stream_.write_some(out.pieces(), ec);
            if (ec == asio::error::would_block) break;
            if (ec) return ec;
            out.consume(n);
            bytes_out_ += n;
        }
    }
    return {};
}

template <class Stream>
net::task<net::error_code> session<Stream>::write_all(gather out) {
    if (aborted_) co_return asio::error::operation_aborted;
    net::error_code ec = write_now(out);
    writing_ = true;
    while (!ec && !out.empty()) {
        const gather slice = out.front(slice_bytes);
        write_deadline_.arm(net::clock::now() + server_->limits.write_stall);
        auto [wec, n] = co_await stream_.async_write_some(slice.pieces(), direct);
        write_deadline_.disarm();
        out.consume(n);
        bytes_out_ += n;
        ec = wec;
    }
    writing_ = false;
    if (ec) open_ = false;
    if (write_timed_out_) ec = asio::error::timed_out;
    co_return ec;
}

template <class Stream>
net::task<void> session<Stream>::answer_at_length() {
    std::exception_ptr escaped;
    try {
        co_await server_->handle.serve(*this);
    } catch (...) {
        escaped = std::current_exception();
    }
    now_ = net::clock::now();
    gone_ = nullptr;
    if (finished_ || aborted_) co_return;
    if (escaped && !begun_) {
        co_await refuse(reason::internal_error, "an unexpected error");
    } else {
        abort();
    }
}

template <class Stream>
net::task<net::error_code> session<Stream>::send(std::string_view head_lines, std::string_view body) {
    if (begun_ || aborted_) co_return asio::error::operation_aborted;
    begun_ = true;
    pending_.assign(head_lines);
    // The length of an empty answer to HEAD is not known to be nought.
    const bool silent = head().method == "HEAD" && body.empty();
    frame(pending_, silent ? body_framing::close_delimited : body_framing::length, body.size());
    gather out;
    out.add(pending_);
    if (how_.framing == body_framing::length) out.add(body);
    const net::error_code ec = co_await write_all(out);
    if (!ec) answered();
    co_return ec;
}

template <class Stream>
net::task<net::error_code> session<Stream>::begin(std::string_view head_lines, body_framing framing,
                                                  std::uint64_t length) {
    if (begun_ || aborted_) co_return asio::error::operation_aborted;
    begun_ = true;
    pending_.assign(head_lines);
    frame(pending_, framing, length);
    body_left_ = length;
    if constexpr (tls) {
        gather out;
        out.add(pending_);
        const net::error_code ec = co_await write_all(out);
        pending_.clear();
        co_return ec;
    } else {
        // Usually the first body bytes follow at once and share its write; if not, it goes alone.
        asio::post(server_->on, [self = this->shared_from_this()] { self->flush(); });
        co_return net::error_code{};
    }
}

template <class Stream>
void session<Stream>::flush() noexcept {
    if (pending_.empty() || writing_ || aborted_ || !begun_ || finished_) return;
    gather out;
    out.add(pending_);
    const std::uint64_t before = bytes_out_;
    // A failure comes back at the next write.
    static_cast<void>(write_now(out));
    pending_.erase(0, static_cast<std::size_t>(bytes_out_ - before));
}

template <class Stream>
net::task<net::error_code> session<Stream>::write(std::string_view bytes) {
    if (!begun_ || finished_ || aborted_) co_return asio::error::operation_aborted;
    if (bytes.empty() || how_.framing == body_framing::none) co_return net::error_code{};
    std::array<char, 20> size_line{};
    gather out;
    out.add(pending_);
    if (how_.framing == body_framing::chunked) {
        char* end = std::to_chars(size_line.data(), size_line.data() + 16, bytes.size(), 16).ptr;
        *end++ = '\r';
        *end++ = '\n';
        out.add({size_line.data(), static_cast<std::size_t>(end - size_line.data())});
    } else if (how_.framing == body_framing::length) {
        if (bytes.size() > body_left_) {
            abort();
            co_return asio::error::message_size;
        }
        body_left_ -= bytes.size();
    }
    out.add(bytes);
    if (how_.framing == body_framing::chunked) out.add("\r\n");
    const net::error_code ec = co_await write_all(out);
    pending_.clear();
    co_return ec;
}

template <class Stream>
net::task<net::error_code> session<Stream>::finish(std::string_view trailers) {
    if (!begun_ || finished_ || aborted_) co_return asio::error::operation_aborted;
    if (how_.framing == body_framing::length && body_left_ > 0) {
        abort();
        co_return asio::error::message_size;
    }
    gather out;
    out.add(pending_);
    if (how_.framing == body_framing::chunked) {
        out.add("0\r\n");
        if (upstream::http::list_has(head().headers.find("TE").value_or(""), "trailers")) out.add(trailers);
        out.add("\r\n");
    }
    const net::error_code ec = co_await write_all(out);
    pending_.clear();
    if (!ec) answered();
    co_return ec;
}

template <class Stream>
net::task<net::error_code> session<Stream>::write_raw(std::string_view bytes) {
    if (!begun_ || aborted_) co_return asio::error::operation_aborted;
    gather out;
    out.add(pending_);
    out.add(bytes);
    const net::error_code ec = co_await write_all(out);
    pending_.clear();
    co_return ec;
}

template <class Stream>
void session<Stream>::answered() noexcept {
    finished_ = true;
    gone_ = nullptr;
}

/// The error body is the handler's; afterwards the connection closes, since its framing cannot be trusted any more.
template <class Stream>
net::task<void> session<Stream>::refuse(reason why, std::string_view detail) {
    const unsigned status = status_of(why);
    close_after_ = true;
    server_->refused.add();
    const std::string body = server_->handle.refused(head(), client_, status, why, detail);
    std::string lines;
    upstream::http::append_status_line(lines, status);
    lines.append("Content-Type: application/json\r\n");
    const net::error_code ec = co_await send(lines, body);
    if (ec) abort();
}

// ---- The ends of a connection
// ----------------------------------------------------------------------------------------

template <class Stream>
net::task<bool> session<Stream>::handshake() {
    if constexpr (tls) {
        limit_ = now_ + server_->limits.head;
        reading_ = true;
        read_deadline_.arm(limit_);
        auto [ec] = co_await stream_.async_handshake(asio::ssl::stream_base::server, direct);
        reading_ = false;
        now_ = net::clock::now();
        if (ec) {
            server_->tls_failures.add();
            abort();
            co_return false;
        }
        client_.certificate = peer_certificate_digest(stream_.native_handle());
    }
    co_return true;
}

template <class Stream>
net::task<void> session<Stream>::close() {
    open_ = false;
    if (aborted_) co_return;
    if constexpr (tls) {
        limit_ = net::clock::now() + linger_time;
        reading_ = true;
        read_deadline_.arm(limit_);
        co_await stream_.async_shutdown(direct);  // the client may be gone: either way the socket closes
        reading_ = false;
    } else if (!in_.empty() || (in_message_ && !parser_.complete())) {
        co_await linger();
    }
    net::error_code ignored;
    socket().close(ignored);
}

/// Closing with unread bytes would reset the connection and could take the answer with it (RFC 9112 section 9.6).
template <class Stream>
net::task<void> session<Stream>::linger() {
    net::error_code failed;
    socket().shutdown(net::tcp_socket::shutdown_send, failed);
    const net::time_point until = net::clock::now() + linger_time;
    for (std::size_t dropped = in_.size(); !failed && !at_end_ && dropped < linger_bytes;) {
        in_.consume(in_.size());
        limit_ = until;
        wanted_ = read_buffer::idle_bytes;
        const reason why = co_await read_more();
        if (why != reason::none) break;
        dropped += in_.size();
    }
}

template <class Stream>
void session<Stream>::drain() noexcept {
    if (in_message_ || !reading_) return;
    open_ = false;
    net::error_code ignored;
    socket().cancel(ignored);
}

template <class Stream>
void session<Stream>::abort() noexcept {
    if (aborted_) return;
    aborted_ = true;
    open_ = false;
    gone_ = nullptr;
    net::error_code ignored;
    socket().set_option(net::tcp_socket::linger(true, 0), ignored);
    socket().close(ignored);
}

template <class Stream>
void session<Stream>::watch_gone(std::function<void()> gone) {
    gone_ = finished_ || aborted_ ? nullptr : std::move(gone);
    start_watch();
}

template <class Stream>
void session<Stream>::start_watch() {
    if (watching_ || !gone_ || !parser_.complete()) return;
    watching_ = true;
    socket().async_wait(net::tcp_socket::wait_read,
                        [self = this->shared_from_this()](net::error_code ec) { self->readable(ec); });
}

/// Peeks, so that nothing is taken from the next request. An end, an error and, with TLS, an alert (record type 21)
/// mean that the client left; other bytes are a request sent ahead, behind which an end cannot be seen.
template <class Stream>
void session<Stream>::readable(net::error_code ec) {
    watching_ = false;
    if (ec || !gone_ || finished_ || aborted_) return;
    char first = 0;
    const auto n = ::recv(socket().native_handle(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        start_watch();
        return;
    }
    if (n > 0 && !(tls && first == 21)) return;
    const std::function<void()> gone = std::exchange(gone_, nullptr);
    gone();
}

template <class Stream>
net::tcp_socket& session<Stream>::socket() noexcept {
    if constexpr (tls) {
        return stream_.next_layer();
    } else {
        return stream_;
    }
}

template <class Stream>
void session<Stream>::read_expired(void* self) noexcept {
    auto& s = *static_cast<session*>(self);
    if (!s.reading_) return;
    s.read_timed_out_ = true;
    net::error_code ignored;
    s.socket().cancel(ignored);
}

template <class Stream>
void session<Stream>::write_expired(void* self) noexcept {
    auto& s = *static_cast<session*>(self);
    s.write_timed_out_ = true;
    s.server_->timed_out.add();
    s.abort();
}

template <class Stream>
net::task<void> start(Stream stream, peer client, std::shared_ptr<server_state> server) {
    auto self = std::make_shared<session<Stream>>(std::move(stream), std::move(client), std::move(server));
    return self->run(self);
}

}  // namespace idem::gateway::http
