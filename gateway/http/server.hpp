#pragma once
// The HTTP/1.1 server of one thread: a listening socket (every thread has its own on the same port, see
// upstream/net/listen.hpp), its connections, their limits and deadlines (facts: RFC 9112; slow-client limits after
// Caddy's triple of idle, ceiling and minimum rate). Everything runs on the thread of `on`.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "gateway/http/transaction.hpp"
#include "upstream/net/listen.hpp"

namespace boost::asio::ssl {
class context;
}

namespace idem::gateway::http {

struct server_limits {
    upstream::http::parse_limits parse;
    std::uint64_t quick_body = 64 * 1024;                // bodies up to here are offered to answer_at_once
    std::uint32_t connections = 10000;                   // of this server; above it new ones get 503 and close
    net::duration head = std::chrono::seconds(10);       // first to last byte of a head; also the TLS handshake
    net::duration body_idle = std::chrono::seconds(30);  // between body bytes
    std::uint64_t body_min_rate = 1024;                  // bytes a second after body_grace
    net::duration body_grace = std::chrono::seconds(30);
    net::duration body_total = std::chrono::minutes(15);
    net::duration keep_alive = std::chrono::seconds(75);   // told to clients as Keep-Alive: timeout
    net::duration write_stall = std::chrono::seconds(60);  // no progress while writing
};

struct server_counters {  // read from any thread
    std::uint64_t accepted = 0, open = 0, refused = 0, timed_out = 0, tls_failures = 0;
};

class server {
public:
    server(net::executor on, handler& h, server_limits limits);
    ~server();
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    /// Binds and listens; port 0 picks one (see port()). `tls` null: plain. Returns an error text, empty if all is
    /// well; another listener on the port is an error unless it is this process's own and `how` is seat::further.
    [[nodiscard]] std::string listen(const std::string& address, std::uint16_t port,
                                     std::shared_ptr<boost::asio::ssl::context> tls, net::seat how = net::seat::first);
    [[nodiscard]] std::uint16_t port() const noexcept;
    /// Draining: still accepts and answers, with Connection: close on every answer; idle connections close.
    void drain() noexcept;
    /// Stops accepting.
    void stop_accepting() noexcept;
    /// Closes every connection now, without a clean end for answers under way.
    void stop() noexcept;
    [[nodiscard]] server_counters counters() const noexcept;

private:
    struct impl;
    std::shared_ptr<impl> impl_;
};

}  // namespace idem::gateway::http
