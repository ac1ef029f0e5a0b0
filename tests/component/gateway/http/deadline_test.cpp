// Slow clients: each wait of the server ends by its own limit.
#include <doctest/doctest.h>

#include "tests/component/gateway/http/harness.hpp"

using namespace idem;
using namespace idem::tests;
using namespace std::chrono_literals;

TEST_CASE("a head that does not come to an end is answered 408 and closed") {
    http::server_limits limits;
    limits.head = 200ms;
    running_server s(limits);
    raw_client c(s.port());
    REQUIRE(c.send("GET /quick HTTP/1.1\r\nHost: h\r\n"));
    const answer a = c.read_answer();
    CHECK(a.status == 408);
    CHECK(a.body == "{\"code\":\"request_timeout\"}");
    CHECK(s.counters().timed_out == 1);
}

TEST_CASE("a connection that never sends anything is closed without a word") {
    http::server_limits limits;
    limits.head = 100ms;
    running_server s(limits);
    raw_client c(s.port());
    std::string all;
    CHECK(c.read_to_end(all));
    CHECK(all.empty());
}

TEST_CASE("an idle connection is closed after keep_alive") {
    http::server_limits limits;
    limits.keep_alive = 1s;
    running_server s(limits);
    raw_client c(s.port());
    REQUIRE(c.send("GET /quick HTTP/1.1\r\nHost: h\r\n\r\n"));
    CHECK(c.read_answer().fields.at("keep-alive") == "timeout=1");
    std::string all;
    CHECK(c.read_to_end(all));
    CHECK(all.empty());
    CHECK(s.handler().refusals().empty());
}

TEST_CASE("a body that stops is answered 408, small or large") {
    http::server_limits limits;
    limits.body_idle = 200ms;
    running_server s(limits);
    raw_client small(s.port());
    REQUIRE(small.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc"));
    CHECK(small.read_answer().status == 408);
    raw_client large(s.port());
    REQUIRE(large.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\nabc"));
    const answer a = large.read_answer();
    CHECK(a.status == 400);  // the handler's own words
    CHECK(a.body == "request_timeout");
    CHECK(a.fields.at("connection") == "close");
}

TEST_CASE("a reader that stalls is cut, and the handler hears of it") {
    http::server_limits limits;
    limits.write_stall = 300ms;
    running_server s(limits);
    raw_client c(s.port(), 4096);
    REQUIRE(c.send("GET /flood HTTP/1.1\r\nHost: h\r\n\r\n"));
    CHECK(eventually([&] { return s.handler().write_errors == 1 && s.counters().open == 0; }));
    CHECK(s.counters().timed_out == 1);
}

TEST_CASE("a reader that is slow but moves is not cut") {
    http::server_limits limits;
    limits.write_stall = 1s;
    running_server s(limits);
    s.on_thread([&] { s.handler().quick_body.assign(8 * 1024 * 1024, 'q'); });
    raw_client c(s.port(), 8192);
    REQUIRE(c.send("GET /quick HTTP/1.1\r\nHost: h\r\n\r\n"));
    const answer a = c.read_answer();
    CHECK(a.clean);
    CHECK(a.body.size() == 8 * 1024 * 1024 + 2);
}
