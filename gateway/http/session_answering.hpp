#pragma once
// How session<Stream> answers: framing, writing, and what happens when the handler does not come to an end.
#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <charconv>
#include <exception>

#include "gateway/http/session.hpp"

namespace idem::gateway::http {

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

}  // namespace idem::gateway::http
