#include "gateway/http/server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ssl/context.hpp>
#include <utility>

#include "gateway/http/session.hpp"

namespace idem::gateway::http {

namespace asio = boost::asio;

namespace {

constexpr net::duration accept_pause = std::chrono::milliseconds(100);
constexpr net::duration turn_away_time = std::chrono::seconds(1);
constexpr std::size_t turn_away_bytes = 64 * 1024;
constexpr std::uint64_t max_turned_away = 64;  // at a time; above it connections are reset without a word

bool is_shortage(net::error_code ec) noexcept {
    return ec == asio::error::no_descriptors || ec.value() == ENFILE || ec == asio::error::no_buffer_space ||
           ec == asio::error::no_memory;
}

void close_socket(void* socket) noexcept {
    net::error_code ignored;
    static_cast<net::tcp_socket*>(socket)->close(ignored);
}

/// Says 503 to a connection beyond the cap, without ever reading a request, and waits for it to go.
net::task<void> turn_away(net::tcp_socket socket, std::string answer) {
    net::deadline limit(socket.get_executor(), &close_socket, &socket);
    limit.arm(turn_away_time);
    auto [ec, sent] = co_await socket.async_write_some(asio::buffer(answer), net::use_task);
    net::error_code failed = ec;
    if (!failed) socket.shutdown(net::tcp_socket::shutdown_send, failed);
    std::string scratch(512, '\0');
    for (std::size_t dropped = 0; !failed && dropped < turn_away_bytes;) {
        auto [rec, n] = co_await socket.async_read_some(asio::buffer(scratch), net::use_task);
        failed = rec;
        dropped += n;
    }
}

}  // namespace

struct server::impl : std::enable_shared_from_this<server::impl> {
    impl(net::executor on, handler& h, const server_limits& limits)
        : state(std::make_shared<server_state>(on, h, limits)), acceptor(on), pause(on) {}

    [[nodiscard]] std::string bind(const std::string& address, std::uint16_t wanted, net::seat how);
    static net::task<void> accept(std::shared_ptr<impl> self);
    void admit(net::tcp_socket socket, const net::tcp::endpoint& from) noexcept;
    void open(net::tcp_socket socket, peer client);
    void refuse(net::tcp_socket socket, const peer& client);

    std::shared_ptr<server_state> state;
    net::tcp_acceptor acceptor;
    net::timer pause;
    std::shared_ptr<asio::ssl::context> tls;
    std::uint16_t port = 0;
    std::uint64_t turned_away = 0;
};

std::string server::impl::bind(const std::string& address, std::uint16_t wanted, net::seat how) {
    net::error_code ec;
    const auto ip = asio::ip::make_address(address, ec);
    if (ec) return "\"" + address + "\" is not an IP address";
    ec = net::listen(acceptor, {ip, wanted}, how);
    if (ec) return "cannot listen on " + address + ":" + std::to_string(wanted) + ": " + ec.message();
    port = acceptor.local_endpoint(ec).port();
    return {};
}

net::task<void> server::impl::accept(std::shared_ptr<impl> self) {
    while (self->acceptor.is_open()) {
        net::tcp_socket socket(self->state->on);
        net::tcp::endpoint from;
        auto [ec] = co_await self->acceptor.async_accept(socket, from, net::use_task);
        if (!ec) {
            self->admit(std::move(socket), from);
        } else if (is_shortage(ec)) {
            // The connection stays in the backlog; trying again at once would spin until somebody closes.
            self->pause.expires_after(accept_pause);
            co_await self->pause.async_wait(net::use_task);
        }
    }
}

/// What fails here, memory at worst, costs this connection and not the loop that accepts the others.
void server::impl::admit(net::tcp_socket socket, const net::tcp::endpoint& from) noexcept try {
    state->accepted.add();
    net::error_code ec;
    socket.set_option(net::tcp::no_delay(true), ec);
    if (!ec) socket.non_blocking(true, ec);
    if (ec) return;  // already reset by the client
    peer client{from.address(), from.port(), tls != nullptr, from.address().to_string(), {}};
    if (state->open.get() >= state->limits.connections) {
        refuse(std::move(socket), client);
    } else {
        open(std::move(socket), std::move(client));
    }
} catch (...) {
    state->refused.add();
}

/// What escapes from a session ends one connection; the session itself deals with all that a handler may throw.
void server::impl::open(net::tcp_socket socket, peer client) {
    const auto ended = [](std::exception_ptr) {};
    if (tls) {
        asio::co_spawn(state->on, run_session(tls_stream(std::move(socket), *tls), std::move(client), state), ended);
    } else {
        asio::co_spawn(state->on, run_session(std::move(socket), std::move(client), state), ended);
    }
}

void server::impl::refuse(net::tcp_socket socket, const peer& client) {
    state->refused.add();
    const unsigned status = status_of(reason::overloaded);
    const std::string body =
        state->handle.refused({}, client, status, reason::overloaded, "too many connections are open");
    if (tls || turned_away >= max_turned_away) {
        net::error_code ignored;
        socket.set_option(net::tcp_socket::linger(true, 0), ignored);
        return;
    }
    std::string answer;
    upstream::http::append_status_line(answer, status);
    answer.append("Content-Type: application/json\r\nRetry-After: 1\r\n");
    const answer_framing how{body_framing::length, body.size(), false};
    finish_head(answer, status, how, body_framing::length, body.size(),
                state->fields.of(afterwards::close, net::clock::now()));
    answer.append(body);
    ++turned_away;
    asio::co_spawn(state->on, turn_away(std::move(socket), std::move(answer)),
                   [self = shared_from_this()](std::exception_ptr) { --self->turned_away; });
}

server::server(net::executor on, handler& h, server_limits limits) : impl_(std::make_shared<impl>(on, h, limits)) {}

server::~server() {
    stop_accepting();
    stop();
}

std::string server::listen(const std::string& address, std::uint16_t port,
                           std::shared_ptr<boost::asio::ssl::context> tls, net::seat how) {
    impl_->tls = std::move(tls);
    std::string failed = impl_->bind(address, port, how);
    if (failed.empty()) asio::co_spawn(impl_->state->on, impl::accept(impl_), [](std::exception_ptr) {});
    return failed;
}

std::uint16_t server::port() const noexcept {
    return impl_->port;
}

void server::drain() noexcept {
    impl_->state->draining = true;
    for (auto at = impl_->state->connections.begin(); at != impl_->state->connections.end();) (at++)->drain(false);
}

void server::stop_accepting() noexcept {
    net::error_code ignored;
    impl_->acceptor.close(ignored);
    impl_->pause.cancel();
    if (!impl_->state->draining) return;
    for (auto at = impl_->state->connections.begin(); at != impl_->state->connections.end();) (at++)->drain(true);
}

void server::stop() noexcept {
    for (auto at = impl_->state->connections.begin(); at != impl_->state->connections.end();) (at++)->abort();
}

server_counters server::counters() const noexcept {
    const server_state& s = *impl_->state;
    return {s.accepted.get(), s.open.get(), s.refused.get(), s.timed_out.get(), s.tls_failures.get()};
}

}  // namespace idem::gateway::http
