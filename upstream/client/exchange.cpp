#include "upstream/client/exchange.hpp"

#include <charconv>

#include "upstream/client/connection.hpp"
#include "upstream/client/request_head.hpp"
#include "upstream/client/wait_limit.hpp"
#include "upstream/net/dial.hpp"
#include "upstream/net/gather.hpp"

namespace idem::upstream::client {
namespace {

using net::clock;
using net::duration;
using net::error_code;
using net::time_point;

/// A server may send progress heads for minutes (RFC 9110 section 15.2); a flood of them is an attack.
constexpr unsigned most_informational = 100;
/// Up to this size a body is copied behind its head on TLS, which makes one record of the two.
constexpr std::size_t one_record = 12 * 1024;
/// What one write deadline covers.
constexpr std::size_t write_slice = 256 * 1024;
/// We close idle connections this much before the peer said it would.
constexpr duration keep_alive_margin = std::chrono::seconds(1);

}  // namespace

struct exchange::impl {
    impl(pool::impl& p, const target& t, timeouts l) : connections(p), to(t), limits(l) {}
    ~impl() { release(); }

    pool::impl& connections;
    const target& to;
    timeouts limits;
    time_point total_at = time_point::max();
    time_point first_byte_at = time_point::max();  // counts from the end of the request
    bool awaits_head = false;                      // a read that the first-byte deadline may end
    std::unique_ptr<connection> link;
    const outgoing* request = nullptr;
    std::string_view body;        // what open() was given
    std::uint64_t body_left = 0;  // of a Content-Length, not yet written
    duration connect_time{};
    failure ended;  // set once the exchange cannot go on
    unsigned informational = 0;
    bool reused = false;
    bool whole = false;  // the whole request is in memory: it can be sent again
    bool dialing = false;
    bool aborted = false;
    bool write_broken = false;
    bool request_done = false;
    bool sent = false;      // a request byte may have reached the replica
    bool answered = false;  // a response byte arrived
    bool response_done = false;

    failure fail(reason why, std::string detail) {
        if (link) link->wire.abort();
        ended = aborted ? failure{reason::client_gone, "aborted"} : failure{why, std::move(detail)};
        return ended;
    }
    failure timed_out(const wait_limit& l) {
        std::string detail(l.name);
        detail.append(" deadline of ").append(seconds(l.length)).append(" passed");
        return fail(reason::upstream_timeout, std::move(detail));
    }
    [[nodiscard]] wait_limit limit(time_point now, duration length, std::string_view name) const {
        const wait_limit own{after(now, length), length, name};
        return own.at <= total_at ? own : wait_limit{total_at, limits.total, "total"};
    }

    /// Of a read within the head.
    [[nodiscard]] wait_limit head_limit() const {
        if (!link->in.empty()) return limit(clock::now(), limits.between_bytes, "between-bytes");
        const wait_limit first{first_byte_at, limits.first_byte, "first-byte"};
        return first_byte_at <= total_at ? first : wait_limit{total_at, limits.total, "total"};
    }

    net::task<failure> dial();
    net::task<failure> send_request();
    net::task<failure> send(net::gather parts);
    /// True if all was written or the connection is broken; otherwise `parts` is what is left.
    bool send_now(net::gather& parts);
    [[nodiscard]] bool may_replay() const noexcept { return reused && whole && !answered && !aborted; }
    void drop_link() noexcept {
        if (link) connections.give_back(std::move(link), false, {});
    }
    void release() noexcept;
};

exchange::exchange(pool& connections, const target& to, timeouts limits)
    : impl_(std::make_unique<impl>(connections.self(), to, limits)) {}

exchange::~exchange() = default;

void exchange::impl::release() noexcept {
    if (!link) return;
    const http::response_head& head = link->parser.head();
    const bool reusable = request_done && response_done && !write_broken && !ended && head.keep_alive &&
                          head.status != 101 && head.framing != http::body_framing::close_delimited && link->in.empty();
    duration idle_for = duration::max();
    if (reusable) {
        const auto field = head.headers.find("keep-alive");
        const auto said = field ? keep_alive_seconds(*field) : std::nullopt;
        if (said) idle_for = std::chrono::seconds(*said) - keep_alive_margin;
    }
    connections.give_back(std::move(link), reusable, idle_for);
}

net::task<failure> exchange::impl::dial() {
    bucket& home = connections.find(to);
    link = connections.make(home);
    sent = false;
    reused = false;
    const net::peer peer{to.host, to.port, to.tls, to.tls_options, to.through};
    const time_point start = clock::now();
    const wait_limit l = limit(start, limits.connect, "connect");
    dialing = true;
    net::dial_failure f = co_await net::dial(link->wire, peer, l.at);
    dialing = false;
    connect_time += clock::now() - start;
    using kind = net::dial_failure::kind;
    if (!f) co_return failure{};
    if (f.what != kind::timeout) co_return fail(reason::upstream_connect, std::move(f.detail));
    failure late = timed_out(l);
    late.detail.append(": ").append(f.detail);
    ended = late;
    co_return late;
}

bool exchange::impl::send_now(net::gather& parts) {
    error_code ec;
    parts.consume(link->wire.write_now(parts.pieces(), ec));
    write_broken = static_cast<bool>(ec);
    return write_broken || parts.empty();
}

net::task<failure> exchange::impl::send(net::gather parts) {
    if (ended) co_return ended;
    while (!send_now(parts)) {
        const wait_limit l = limit(clock::now(), limits.between_bytes, "between-bytes");
        const net::gather slice = parts.front(write_slice);
        link->writing.arm(l.at);
        auto [ec, written] = co_await link->wire.write(slice.pieces());
        link->writing.disarm();
        parts.consume(written);
        if (!ec) continue;
        if (aborted) co_return fail(reason::client_gone, "aborted");
        if (link->writing.expired()) co_return timed_out(l);
        write_broken = true;
        break;
    }
    if (!write_broken) co_return failure{};
    // The connection stays open: an upstream that refuses a body may have answered before it hung up.
    co_return failure{reason::upstream_reset, "the upstream closed while the request was sent"};
}

net::task<failure> exchange::impl::send_request() {
    connection& c = *link;
    c.in.clear();
    c.parser.reset(request->method == "HEAD");
    write_broken = false;
    answered = false;
    if (!compose_head(c.head, *request, to)) co_return fail(reason::internal_error, "request head holds a line break");
    char digits[16];
    net::gather parts;
    if (!body.empty() && request->framing == http::body_framing::chunked) {
        const auto end = std::to_chars(digits, digits + sizeof digits, body.size(), 16).ptr;
        c.head.append(digits, end).append("\r\n");
        parts = {c.head, body, "\r\n"};
    } else if (c.wire.secured() && body.size() <= one_record) {
        c.head.append(body);
        parts = {c.head};
    } else {
        parts = {c.head, body};
    }
    body_left = request->framing == http::body_framing::length ? request->length - body.size() : 0;
    request_done = whole;
    sent = true;
    if (send_now(parts)) co_return failure{};
    failure f = co_await send(parts);
    if (ended) co_return f;
    co_return failure{};  // what broke shows when the answer is read
}

net::task<failure> exchange::open(const outgoing& out, std::string_view body) {
    impl& x = *impl_;
    if (x.ended) co_return x.ended;
    const bool by_length = out.framing == http::body_framing::length;
    if ((by_length && body.size() > out.length) || (out.framing == http::body_framing::none && !body.empty())) {
        co_return x.fail(reason::internal_error, "more body than the framing says");
    }
    x.request = &out;
    x.body = body;
    x.whole = out.framing == http::body_framing::none || (by_length && body.size() == out.length);
    x.total_at = after(clock::now(), x.limits.total);
    // A request that cannot be sent again gets a connection that cannot be stale.
    if (x.whole) x.link = x.connections.take(x.connections.find(x.to));
    x.reused = x.link != nullptr;
    if (x.link) {
        failure f = co_await x.send_request();
        if (f || !x.write_broken) co_return f;
        x.drop_link();
    }
    failure f = co_await x.dial();
    if (f) co_return f;
    co_return co_await x.send_request();
}

net::task<failure> exchange::write_body(std::string_view bytes) {
    impl& x = *impl_;
    if (bytes.empty() || x.ended) co_return x.ended;
    if (x.request->framing != http::body_framing::chunked) {
        if (bytes.size() > x.body_left) co_return x.fail(reason::internal_error, "more body than the framing says");
        x.body_left -= bytes.size();
        co_return co_await x.send({bytes});
    }
    char line[18];
    char* end = std::to_chars(line, line + 16, bytes.size(), 16).ptr;
    *end++ = '\r';
    *end++ = '\n';
    const std::string_view size_line(line, static_cast<std::size_t>(end - line));
    co_return co_await x.send({size_line, bytes, "\r\n"});
}

net::task<failure> exchange::finish_body() {
    impl& x = *impl_;
    if (x.ended || x.request_done) co_return x.ended;
    if (x.body_left > 0) co_return x.fail(reason::internal_error, "less body than the framing says");
    if (x.request->framing == http::body_framing::chunked) {
        failure f = co_await x.send({"0\r\n\r\n"});
        if (f) co_return f;
    }
    x.request_done = true;
    x.first_byte_at = after(clock::now(), x.limits.first_byte);
    if (x.awaits_head) x.link->reading.arm(x.head_limit().at);
    co_return failure{};
}

net::task<failure> exchange::read_head() {
    impl& x = *impl_;
    if (x.ended) co_return x.ended;
    if (x.request_done) x.first_byte_at = after(clock::now(), x.limits.first_byte);
    for (;;) {
        connection& c = *x.link;
        const http::parsed p = c.parser.next(c.in.view());
        c.in.consume(p.consumed);
        if (p.event == http::parse_event::error) co_return x.fail(p.why, std::string(p.detail));
        if (p.event == http::parse_event::head) {
            const unsigned status = c.parser.head().status;
            if (status == 101 && !x.request->upgrade) {
                co_return x.fail(reason::upstream_malformed, "101 to a request without an upgrade");
            }
            if (status >= 200 || status == 101) co_return failure{};
            if (++x.informational > most_informational) {
                co_return x.fail(reason::upstream_malformed, "too many informational responses");
            }
            c.parser.reset(x.request->method == "HEAD");
            continue;
        }
        const net::asio::mutable_buffer room = room_in(c.in);
        if (room.size() == 0) co_return x.fail(reason::upstream_malformed, "head larger than the read buffer");
        c.reading.arm(x.head_limit().at);
        x.awaits_head = true;
        auto [ec, n] = co_await c.wire.read_some(room);
        x.awaits_head = false;
        c.reading.disarm();
        if (!ec) {
            x.answered = true;
            c.in.commit(n);
            continue;
        }
        if (!x.aborted && c.reading.expired()) co_return x.timed_out(x.head_limit());
        if (x.may_replay()) {
            // The replica closed the idle connection as we used it: nobody has read this request.
            x.drop_link();
            failure f = co_await x.dial();
            if (f) co_return f;
            f = co_await x.send_request();
            if (f) co_return f;
            continue;
        }
        co_return x.fail(reason::upstream_reset,
                         (x.answered ? "lost within the head: " : "lost before the head: ") + ec.message());
    }
}

const http::response_head& exchange::head() const noexcept {
    return impl_->link->parser.head();
}

net::task<failure> exchange::read_body(std::string_view& bytes) {
    impl& x = *impl_;
    bytes = {};
    if (x.ended || x.response_done) co_return x.ended;
    connection& c = *x.link;
    for (;;) {
        http::parsed p = c.parser.next(c.in.view());
        c.in.consume(p.consumed);
        if (p.event == http::parse_event::body) {
            bytes = p.body;
            co_return failure{};
        }
        if (p.event == http::parse_event::complete) {
            x.response_done = true;
            co_return failure{};
        }
        if (p.event == http::parse_event::error) co_return x.fail(p.why, std::string(p.detail));
        const net::asio::mutable_buffer room = room_in(c.in);
        if (room.size() == 0) co_return x.fail(reason::upstream_malformed, "framing larger than the read buffer");
        const wait_limit l = x.limit(clock::now(), x.limits.between_bytes, "between-bytes");
        c.reading.arm(l.at);
        auto [ec, n] = co_await c.wire.read_some(room);
        c.reading.disarm();
        if (!ec) {
            c.in.commit(n);
            continue;
        }
        if (!x.aborted && c.reading.expired()) co_return x.timed_out(l);
        // Only an orderly end ends a close-delimited body, on TLS one with close_notify (RFC 9112 section 9.8).
        if (ec == net::asio::error::eof && c.parser.finish().event == http::parse_event::complete) {
            x.response_done = true;
            co_return failure{};
        }
        co_return x.fail(reason::framing_incomplete, "lost within the body: " + ec.message());
    }
}

bool exchange::complete() const noexcept {
    return impl_->response_done;
}

void exchange::abort() noexcept {
    impl& x = *impl_;
    x.aborted = true;
    if (!x.ended) x.ended = {reason::client_gone, "aborted"};
    if (!x.link) return;
    if (x.dialing) {
        net::abort_dialing(x.link->wire);
    } else {
        x.link->wire.abort();
    }
}

net::task<failure> exchange::read_raw(std::string_view& bytes) {
    impl& x = *impl_;
    bytes = {};
    if (x.ended) co_return x.ended;
    connection& c = *x.link;
    if (c.in.empty()) {
        // One direction of a tunnel may be silent for long while the other is busy.
        const wait_limit l{after(clock::now(), x.limits.total), x.limits.total, "tunnel idle"};
        const net::asio::mutable_buffer room = room_in(c.in);
        c.reading.arm(l.at);
        auto [ec, n] = co_await c.wire.read_some(room);
        c.reading.disarm();
        if (ec == net::asio::error::eof && !x.aborted) co_return failure{};
        if (ec && !x.aborted && c.reading.expired()) co_return x.timed_out(l);
        if (ec) co_return x.fail(reason::upstream_reset, "tunnel lost: " + ec.message());
        c.in.commit(n);
    }
    bytes = c.in.view();
    c.in.consume(bytes.size());
    co_return failure{};
}

net::task<failure> exchange::write_raw(std::string_view bytes) {
    impl& x = *impl_;
    // A tunnel has no total: it lasts as long as both sides talk.
    x.total_at = time_point::max();
    co_return co_await x.send({bytes});
}

bool exchange::sent() const noexcept {
    return impl_->sent;
}

bool exchange::answered() const noexcept {
    return impl_->answered;
}

bool exchange::reused() const noexcept {
    return impl_->reused;
}

net::duration exchange::connect_time() const noexcept {
    return impl_->connect_time;
}

}  // namespace idem::upstream::client
