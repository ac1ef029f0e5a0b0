#pragma once
// How session<Stream> reads requests: advance() decides what is needed next, run() fetches it.
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <utility>

#include "gateway/http/session.hpp"

namespace idem::gateway::http {

template <class Stream>
void session<Stream>::begin_message() {
    parser_.reset();
    if (in_.capacity() > idle_bytes) in_.shrink();
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
    if (read_timed_out_) return reason::request_timeout;
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
        server_->timed_out.add();
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
        if (body_failure_ == reason::request_timeout) server_->timed_out.add();
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

}  // namespace idem::gateway::http
