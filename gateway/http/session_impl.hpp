#pragma once
// The life of a session<Stream> from its first byte to its last. Compiled once per kind of stream, by session_plain.cpp
// and session_tls.cpp, together with session_reading.hpp and session_answering.hpp.
#include <poll.h>

#include <utility>

#include "gateway/http/session_answering.hpp"
#include "gateway/http/session_reading.hpp"
#include "gateway/http/tls.hpp"

namespace idem::gateway::http {

template <class Stream>
session<Stream>::session(Stream stream, peer client, std::shared_ptr<server_state> server)
    : server_(std::move(server)),
      stream_(std::move(stream)),
      client_(std::move(client)),
      parser_(server_->limits.parse),
      read_deadline_(server_->deadlines, &read_expired, this),
      write_deadline_(server_->deadlines, &write_expired, this),
      watch_deadline_(server_->deadlines, &look_expired, this),
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
        wanted_ = idle_bytes;
        const reason why = co_await read_more();
        if (why != reason::none) break;
        dropped += in_.size();
    }
}

template <class Stream>
void session<Stream>::drain(bool all) noexcept {
    if ((first_ && !all) || in_message_ || !reading_) return;
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
    // Not at once: an answer that comes soon is worth no system call to learn that its client left.
    if (gone_) watch_deadline_.arm(net::clock::now() + look_again);
}

template <class Stream>
void session<Stream>::start_watch() {
    if (watching_ || !gone_ || !parser_.complete()) return;
    watching_ = true;
    socket().async_wait(net::tcp_socket::wait_read, [self = this->shared_from_this()](net::error_code) {
        self->watching_ = false;
        self->look_for_end();
    });
}

/// Nothing is taken from the next request: the kernel is asked whether the client's end came, also behind unread bytes.
/// Such bytes (a request sent ahead, a farewell of TLS) keep the socket readable, so from then on the question is
/// repeated.
template <class Stream>
void session<Stream>::look_for_end() {
    if (!gone_ || finished_ || aborted_ || watching_ || !parser_.complete()) return;
    pollfd at{socket().native_handle(), POLLIN | POLLRDHUP, 0};
    const int events = ::poll(&at, 1, 0) < 0 ? 0 : at.revents;
    if ((events & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0) {
        const std::function<void()> gone = std::exchange(gone_, nullptr);
        gone();
    } else if ((events & POLLIN) != 0) {
        watch_deadline_.arm(net::clock::now() + look_again);
    } else {
        start_watch();
    }
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
void session<Stream>::look_expired(void* self) noexcept {
    static_cast<session*>(self)->look_for_end();
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
