// What a broken or hostile upstream sends, and what becomes of it.
#include "tests/component/upstream/client/fetch.hpp"
#include "tests/support/fake_upstream.hpp"

using namespace idem;
using namespace idem::test;

namespace {

std::string repeat(std::string_view what, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) out.append(what);
    return out;
}

struct row {
    std::string_view name;
    std::string bytes;
    reason why = reason::none;  // none: a complete answer
    unsigned status = 200;
    std::string body = "ok";
    bool reused = false;  // may the connection serve another request?
};

const std::string ok = "HTTP/1.1 200 OK\r\n";

}  // namespace

TEST_CASE("responses that lie") {
    const row rows[] = {
        {"sound", ok + "Content-Length: 2\r\n\r\nok", reason::none, 200, "ok", true},
        {"sound, chunked", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", reason::none, 200, "ok",
         true},
        {"coding and length", ok + "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n",
         reason::upstream_malformed},
        {"two lengths", ok + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nok", reason::upstream_malformed},
        {"list of lengths", ok + "Content-Length: 2, 2\r\n\r\nok", reason::upstream_malformed},
        {"unknown coding", ok + "Transfer-Encoding: gzip\r\n\r\nok", reason::upstream_malformed},
        {"folded field", ok + "X-A: b\r\n c\r\nContent-Length: 2\r\n\r\nok", reason::upstream_malformed},
        {"header of 1 MiB", ok + "X-A: " + std::string(1 << 20, 'a') + "\r\n\r\n", reason::upstream_malformed},
        {"10,000 fields", ok + repeat("X: y\r\n", 10000) + "\r\n", reason::upstream_malformed},
        {"bad chunk size", ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n", reason::upstream_malformed},
        {"chunk extension of 1 MiB",
         ok + "Transfer-Encoding: chunked\r\n\r\n2;" + std::string(1 << 20, 'a') + "\r\nok\r\n0\r\n\r\n",
         reason::upstream_malformed},
        {"trailers of 1 MiB",
         ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n" + repeat("X: y\r\n", 1 << 17) + "\r\n",
         reason::upstream_malformed},
        {"1,000 informational heads",
         repeat("HTTP/1.1 102 Processing\r\n\r\n", 1000) + ok + "Content-Length: 2\r\n\r\nok",
         reason::upstream_malformed},
        {"three informational heads",
         repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 3) + ok + "Content-Length: 2\r\n\r\nok", reason::none,
         200, "ok", true},
        {"unasked upgrade", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
         reason::upstream_malformed},
        {"bytes after the length", ok + "Content-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"},
        {"bytes after the last chunk", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nx"},
        {"204 with a length", "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok", reason::none, 204, ""},
        {"304 with a length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n", reason::none, 304, "", true},
        {"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"},
        {"asks to close", ok + "Connection: close\r\nContent-Length: 2\r\n\r\nok"},
        {"keeps alive for one second", ok + "Keep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nok"},
        {"keeps alive for a minute", ok + "Keep-Alive: timeout=60, max=9\r\nContent-Length: 2\r\n\r\nok", reason::none,
         200, "ok", true},
        {"trailers", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nContent-Length: 9\r\n\r\n", reason::none,
         200, "ok", true},
        {"another protocol", "SSH-2.0-OpenSSH_9.2\r\n\r\n", reason::upstream_malformed},
    };
    for (const row& r : rows) {
        CAPTURE(r.name);
        fake_upstream server([&](const received_request&) { return reply{r.bytes, reply::ending::keep}; });
        bench on;
        const client::target to = target_of(server.url());
        const fetched got = fetch(on, to);
        CHECK(got.failed.why == r.why);
        CHECK(got.complete == (r.why == reason::none));
        if (r.why == reason::none) {
            CHECK(got.status == r.status);
            CHECK(got.body == r.body);
        }
        CHECK(on.connections.idle() == (r.reused ? 1 : 0));
    }
}

TEST_CASE("trailers never become headers") {
    fake_upstream server([](const received_request&) {
        return reply{ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Late: 1\r\n\r\n"};
    });
    bench on;
    const client::target to = target_of(server.url());
    struct probe {
        static net::task<void> run(bench& b, const client::target& to, bool& late) {
            client::exchange x(b.connections, to, {});
            client::outgoing out = post(0);
            client::failure f = co_await x.open(out, {});
            REQUIRE_FALSE(f);
            f = co_await x.read_head();
            REQUIRE_FALSE(f);
            std::string_view bytes = "more";
            while (!bytes.empty()) {
                f = co_await x.read_body(bytes);
                REQUIRE_FALSE(f);
            }
            late = x.head().headers.find("x-late").has_value();
        }
    };
    bool late = true;
    on.spawn(probe::run(on, to, late));
    on.run();
    CHECK_FALSE(late);
}

TEST_CASE("an answer of many megabytes arrives whole, in a bounded buffer") {
    std::string big;
    for (int i = 0; big.size() < (6u << 20); ++i) big += std::to_string(i) + ",";
    for (const bool in_chunks : {false, true}) {
        std::string wire = ok + "Content-Length: " + std::to_string(big.size()) + "\r\n\r\n" + big;
        if (in_chunks) {
            wire = ok + "Transfer-Encoding: chunked\r\n\r\n";
            for (std::size_t at = 0; at < big.size(); at += 70000) {
                const std::string chunk = big.substr(at, 70000);
                char size[16];
                std::snprintf(size, sizeof size, "%zx\r\n", chunk.size());
                wire.append(size).append(chunk).append("\r\n");
            }
            wire += "0\r\n\r\n";
        }
        fake_upstream server([&](const received_request&) { return reply{wire}; });
        bench on;
        const fetched got = fetch(on, target_of(server.url()));
        CHECK(got.complete);
        CHECK(got.body == big);
    }
}
