#pragma once
// Runs one exchange to its end on a context of its own pool.
#include <doctest/doctest.h>

#include <string>

#include "upstream/client/exchange.hpp"
#include "upstream/client/pool.hpp"
#include "upstream/net/task_group.hpp"

namespace idem::test {

namespace client = upstream::client;
namespace http = upstream::http;
namespace net = upstream::net;

struct fetched {
    client::failure failed;
    unsigned status = 0;
    http::body_framing framing = http::body_framing::none;
    std::string body;
    bool complete = false;
    bool reused = false;
};

inline client::target target_of(const std::string& url) {
    std::string error;
    auto t = client::parse_url(url, error);
    REQUIRE_MESSAGE(t, error);
    return *t;
}

inline client::outgoing post(std::uint64_t length) {
    client::outgoing out;
    out.method = "POST";
    out.target = "/v1/chat/completions";
    out.headers.add("content-type", "application/json");
    out.framing = http::body_framing::length;
    out.length = length;
    return out;
}

/// A thread's worth of client: context, pool, group.
struct bench {
    explicit bench(client::pool_limits limits = {}) : connections(context.get_executor(), limits) {}

    /// Returns when all spawned tasks have ended.
    void run() {
        context.restart();
        while (group.size() > 0) context.run_one();
    }
    void spawn(net::task<void> t) { group.spawn(std::move(t)); }

    net::asio::io_context context{1};
    client::pool connections;
    net::task_group group{context.get_executor(), [](std::exception_ptr e) { std::rethrow_exception(e); }};
};

inline net::task<void> fetch_into(fetched& out, bench& on, const client::target& to, client::outgoing request,
                                  std::string body, client::timeouts limits) {
    client::exchange x(on.connections, to, limits);
    out.failed = co_await x.open(request, body);
    if (!out.failed) out.failed = co_await x.read_head();
    while (!out.failed) {
        if (out.status == 0) {
            out.status = x.head().status;
            out.framing = x.head().framing;
        }
        std::string_view bytes;
        out.failed = co_await x.read_body(bytes);
        if (bytes.empty()) break;
        out.body.append(bytes);
    }
    out.complete = x.complete();
    out.reused = x.reused();
}

inline fetched fetch(bench& on, const client::target& to, const std::string& body = "{}",
                     client::timeouts limits = {}) {
    fetched out;
    on.spawn(fetch_into(out, on, to, post(body.size()), body, limits));
    on.run();
    return out;
}

}  // namespace idem::test
