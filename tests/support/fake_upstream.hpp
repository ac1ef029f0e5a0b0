#pragma once
// A server that sends exact bytes and ends each connection exactly as told, on threads of its own (one a connection),
// so that what the program under test does cannot bend it. Loopback, a free port. The destructor closes and joins all.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace idem::test {

/// What to do after one request.
struct reply {
    enum class ending : std::uint8_t {
        keep,      // read the next request
        fin,       // close in order; on TLS with close_notify
        fin_bare,  // close in order; on TLS without close_notify
        rst,       // reset
        hang,      // send nothing more and keep the connection until the other side or the test ends it
    };
    std::string bytes;
    ending then = ending::keep;
};

struct received_request {
    std::size_t connection = 0;  // from 0, in the order of accepting
    std::size_t number = 0;      // from 0, on its connection
    std::string head;            // with the empty line
    std::string body;            // as sent: chunked bodies keep their framing
};

struct fake_upstream_options {
    std::string certificate_file, key_file;  // TLS if set
    std::string client_ca_file;              // requires a client certificate
    /// Do not read requests: reply to the connection itself (number 0, empty head).
    bool speak_first = false;
};

class fake_upstream {
public:
    /// Called on the connection's thread, one call at a time.
    using answer = std::function<reply(const received_request&)>;
    explicit fake_upstream(answer how, fake_upstream_options options = {});
    ~fake_upstream();
    fake_upstream(const fake_upstream&) = delete;
    fake_upstream& operator=(const fake_upstream&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept;
    /// "http://127.0.0.1:PORT" or https.
    [[nodiscard]] std::string url() const;
    [[nodiscard]] std::size_t connections() const noexcept;
    [[nodiscard]] std::vector<received_request> requests() const;
    /// Connections that have ended, from whichever side.
    [[nodiscard]] std::size_t ended() const noexcept;
    /// Waits for ended() to reach `count`; false after five seconds.
    [[nodiscard]] bool wait_for_ended(std::size_t count) const;
    [[nodiscard]] bool wait_for_requests(std::size_t count) const;

private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

/// A TCP port of loopback on which nobody listens.
[[nodiscard]] std::uint16_t closed_port();

}  // namespace idem::test
