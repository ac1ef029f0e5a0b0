#pragma once
// One request to a replica and its response, on one pooled connection. Belongs to one thread, and to one coroutine or
// two: one may write the body while the other reads the answer, which may come early.
//
// Call order: open, (write_body)*, finish_body, read_head, read_body until it is empty and complete() — or abandon the
// object at any point: a connection whose exchange did not end cleanly on both sides is closed, never reused.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "upstream/base/reason.hpp"
#include "upstream/client/target.hpp"
#include "upstream/http/message.hpp"
#include "upstream/net/net.hpp"

namespace idem::upstream::client {

/// Deadlines of one exchange; each names its own failure.
struct timeouts {
    net::duration connect = std::chrono::seconds(2);
    net::duration first_byte = std::chrono::seconds(120);
    net::duration between_bytes = std::chrono::seconds(60);
    net::duration total = std::chrono::minutes(15);
};

struct failure {
    reason why = reason::none;  // upstream_connect, upstream_timeout, upstream_reset, upstream_malformed, …
    std::string detail;         // for the log and the error body; never holds credentials
    explicit operator bool() const noexcept { return why != reason::none; }
};

/// The request as it goes on the wire. The exchange writes Host, framing and Connection itself and never copies them.
struct outgoing {
    std::string method;
    std::string target;    // already joined with the base path
    http::fields headers;  // end-to-end fields only
    http::body_framing framing = http::body_framing::none;
    std::uint64_t length = 0;
    bool upgrade = false;  // ask for the protocol in `upgrade_to`
    std::string upgrade_to;
};

class pool;

class exchange {
public:
    /// `connections` and `to` must outlive the exchange.
    exchange(pool& connections, const target& to, timeouts limits);
    ~exchange();
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;

    /// Takes an idle connection or dials, and writes the head together with `body` (the whole body where
    /// framing is `length` and body.size() == length). A reused connection that turns out dead before one response byte
    /// is replaced once by a fresh one, if the whole request was in memory. `out` and `body` must live until this
    /// returns and, for that replay, until read_head returns.
    [[nodiscard]] net::task<failure> open(const outgoing& out, std::string_view body);
    /// Never writes an empty chunk. After upstream_reset from here read_head may still yield the answer of an upstream
    /// that refused the body.
    [[nodiscard]] net::task<failure> write_body(std::string_view bytes);
    [[nodiscard]] net::task<failure> finish_body();
    /// Reads past 1xx (at most 100 of them, and except 101). Then head() is valid. The first-byte deadline counts from
    /// the end of the request.
    [[nodiscard]] net::task<failure> read_head();
    [[nodiscard]] const http::response_head& head() const noexcept;
    /// Next decoded body bytes, valid until the next call; empty view with no failure: the body is complete.
    /// Truncation is failure{framing_incomplete}. A close-delimited body over plain TCP completes at any orderly end:
    /// ask head().framing.
    [[nodiscard]] net::task<failure> read_body(std::string_view& bytes);
    [[nodiscard]] bool complete() const noexcept;
    /// Closes at once from the owner's thread, for nobody wants the answer any more; pending awaits end with
    /// client_gone.
    void abort() noexcept;
    /// After 101: raw bytes both ways for a tunnel, one reader and one writer at a time. An empty view with no failure
    /// is the end of that direction. A direction may be idle for as long as `total`.
    [[nodiscard]] net::task<failure> read_raw(std::string_view& bytes);
    [[nodiscard]] net::task<failure> write_raw(std::string_view bytes);
    /// What a retry decision needs: were request bytes written, did response bytes arrive (route::attempt).
    [[nodiscard]] bool sent() const noexcept;
    [[nodiscard]] bool answered() const noexcept;
    /// Facts for log and Server-Timing.
    [[nodiscard]] bool reused() const noexcept;
    [[nodiscard]] net::duration connect_time() const noexcept;

private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace idem::upstream::client
