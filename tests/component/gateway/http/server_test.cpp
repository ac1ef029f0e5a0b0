// The server over loopback: what a client sees of framing, connections and refusals.
#include <doctest/doctest.h>

#include "tests/component/gateway/http/harness.hpp"

using namespace idem;
using namespace idem::tests;

namespace {

std::string get(std::string_view path, std::string_view lines = {}) {
    return "GET " + std::string(path) + " HTTP/1.1\r\nHost: h\r\n" + std::string(lines) + "\r\n";
}

std::string post(std::string_view path, std::string_view body, std::string_view lines = {}) {
    return "POST " + std::string(path) + " HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n" + std::string(lines) + "\r\n" + std::string(body);
}

}  // namespace

TEST_CASE("a quick answer carries framing, date and how long the connection stays") {
    running_server s;
    raw_client c(s.port());
    const std::string request = post("/quick", "{}");
    REQUIRE(c.send(request));
    const answer a = c.read_answer();
    CHECK(a.status == 200);
    CHECK(a.clean);
    CHECK(a.body == "[quick]");
    CHECK(a.fields.at("content-length") == "7");
    CHECK(a.fields.at("connection") == "keep-alive");
    CHECK(a.fields.at("keep-alive") == "timeout=75");
    CHECK(a.fields.at("date").ends_with(" GMT"));
    CHECK(a.fields.at("date").size() == 29);
    REQUIRE(eventually([&] { return s.handler().done_calls == 1; }));
    CHECK(s.handler().done_failures == 0);
    CHECK(s.handler().last_in == request.size());
    CHECK(s.handler().last_out > a.body.size());
    CHECK(s.handler().requests().at(0).body == "{}");
}

TEST_CASE("many requests use one connection, quick and slow mixed") {
    running_server s;
    raw_client c(s.port());
    for (int i = 0; i < 50; ++i) {
        REQUIRE(c.send(post(i % 2 == 0 ? "/quick" : "/echo", std::to_string(i))));
        const answer a = c.read_answer();
        REQUIRE(a.clean);
        CHECK(a.body == (i % 2 == 0 ? "[quick]" : std::to_string(i)));
    }
    CHECK(s.counters().accepted == 1);
    CHECK(s.counters().open == 1);
}

TEST_CASE("pipelined requests are answered one after another, in order") {
    running_server s;
    raw_client c(s.port());
    std::string all;
    for (int i = 0; i < 20; ++i)
        all += i % 3 == 0 ? get("/stream") : i % 3 == 1 ? get("/quick") : post("/echo", std::to_string(i));
    REQUIRE(c.send(all));
    for (int i = 0; i < 20; ++i) {
        const answer a = c.read_answer();
        REQUIRE(a.clean);
        CHECK(a.body == (i % 3 == 0 ? "hello world" : i % 3 == 1 ? "[quick]" : std::to_string(i)));
    }
}

TEST_CASE("a request that arrives byte by byte is the same request") {
    running_server s;
    raw_client c(s.port());
    for (const std::string& request :
         {post("/echo", "slow"),
          std::string(
              "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nsl\r\n2\r\now\r\n0\r\n\r\n")}) {
        for (const char byte : request) REQUIRE(c.send({&byte, 1}));
        const answer a = c.read_answer();
        CHECK(a.clean);
        CHECK(a.body == "slow");
    }
}

TEST_CASE("chunked uploads, small and large, reach the handler decoded and without trailers") {
    running_server s;
    raw_client c(s.port());
    for (const std::size_t size : {std::size_t{10}, std::size_t{64 * 1024}, std::size_t{3 * 1024 * 1024}}) {
        const std::string body(size, 'b');
        REQUIRE(c.send("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"));
        constexpr std::size_t piece = 50000;
        for (std::size_t at = 0; at < size; at += piece) {
            const std::string part = body.substr(at, piece);
            char line[32];
            REQUIRE(
                c.send({line, static_cast<std::size_t>(std::snprintf(line, sizeof line, "%zx;x=y\r\n", part.size()))}));
            REQUIRE(c.send(part + "\r\n"));
        }
        REQUIRE(c.send("0\r\nAuthorization: evil\r\n\r\n"));
        const answer a = c.read_answer();
        CHECK(a.clean);
        CHECK(a.body == body);
        CHECK(s.handler().requests().back().fields.size() == 2);
    }
}

TEST_CASE("a large upload by length is streamed") {
    running_server s;
    raw_client c(s.port());
    const std::string body(5 * 1024 * 1024, 'u');
    REQUIRE(c.send(post("/echo", body)));
    CHECK(c.read_answer().body == body);
    REQUIRE(c.send(get("/quick")));
    CHECK(c.read_answer().body == "[quick]");
}

TEST_CASE("Expect: 100-continue is answered when the handler wants the body") {
    running_server s;
    raw_client c(s.port());
    REQUIRE(c.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"));
    CHECK(c.read_answer(false, true).status == 100);
    REQUIRE(c.send("ab"));
    CHECK(c.read_answer().body == "ab");
    SUBCASE("and not at all if it does not") {
        REQUIRE(c.send("POST /early HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"));
        const answer a = c.read_answer(false, true);
        CHECK(a.status == 413);
        CHECK(a.fields.at("connection") == "close");
    }
}

TEST_CASE("streams are chunked, and an empty write does not end them") {
    running_server s;
    raw_client c(s.port());
    REQUIRE(c.send(get("/stream")));
    const answer a = c.read_answer();
    CHECK(a.clean);
    CHECK(a.body == "hello world");
    CHECK(a.fields.at("transfer-encoding") == "chunked");
    CHECK(a.trailers.empty());
    REQUIRE(c.send(get("/counted")));
    const answer counted = c.read_answer();
    CHECK(counted.fields.at("content-length") == "11");
    CHECK(counted.body == "hello world");
}

TEST_CASE("trailers go to clients that asked for them") {
    running_server s;
    raw_client c(s.port());
    REQUIRE(c.send(get("/stream", "Connection: TE\r\nTE: trailers\r\n")));
    const answer a = c.read_answer();
    CHECK(a.clean);
    CHECK(a.trailers == "X-Sum: 1\r\n");
}

TEST_CASE("the head of a stream does not wait for its first byte") {
    running_server s;
    raw_client c(s.port());
    REQUIRE(c.send(get("/begin")));
    std::string head;
    while (head.find("\r\n\r\n") == std::string::npos) {
        char byte = 0;
        REQUIRE(::recv(c.fd(), &byte, 1, 0) == 1);
        head += byte;
    }
    CHECK(head.starts_with("HTTP/1.1 200 OK\r\n"));
    s.on_thread([&] { s.handler().woken.notify(); });
    std::string rest;
    c.shutdown_send();
    CHECK(c.read_to_end(rest));
    CHECK(rest == "4\r\nlate\r\n0\r\n\r\n");
}

TEST_CASE("HEAD gets the head alone") {
    running_server s;
    raw_client c(s.port());
    for (const char* path : {"/quick", "/counted", "/stream", "/echo"}) {
        REQUIRE(c.send("HEAD " + std::string(path) + " HTTP/1.1\r\nHost: h\r\n\r\n"));
        const answer a = c.read_answer(true);
        CHECK(a.status == 200);
        CHECK(a.fields.contains("content-length") ==
              (std::string_view(path) == "/quick" || std::string_view(path) == "/counted"));
    }
    REQUIRE(c.send(get("/empty")));
    const answer none = c.read_answer();
    CHECK(none.status == 204);
    CHECK_FALSE(none.fields.contains("content-length"));
}

TEST_CASE("HTTP/1.0: closed after the answer unless asked, never chunked") {
    running_server s;
    raw_client one(s.port());
    REQUIRE(one.send("GET /stream HTTP/1.0\r\n\r\n"));
    std::string all;
    CHECK(one.read_to_end(all));
    CHECK(all.find("Transfer-Encoding") == std::string::npos);
    CHECK(all.ends_with("\r\n\r\nhello world"));
    raw_client two(s.port());
    for (int i = 0; i < 2; ++i) {
        REQUIRE(two.send("GET /quick HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
        CHECK(two.read_answer().fields.at("connection") == "keep-alive");
    }
}

TEST_CASE("an answer that is cut never has a clean end") {
    running_server s;
    for (const char* path : {"/abort", "/unfinished", "/too-little"}) {
        CAPTURE(path);
        raw_client c(s.port());
        REQUIRE(c.send(get(path)));
        std::string all;
        CHECK_FALSE(c.read_to_end(all));
        CHECK(all.find("0\r\n\r\n") == std::string::npos);
    }
    raw_client c(s.port());
    REQUIRE(c.send(get("/too-much")));
    std::string all;
    CHECK_FALSE(c.read_to_end(all));
    CHECK(eventually([&] { return s.handler().write_errors == 2; }));
    raw_client old(s.port());
    REQUIRE(old.send("GET /unfinished HTTP/1.0\r\n\r\n"));
    CHECK_FALSE(old.read_to_end(all));
}

TEST_CASE("a handler that throws costs one 500") {
    running_server s;
    raw_client c(s.port());
    REQUIRE(c.send(get("/throw")));
    const answer a = c.read_answer();
    CHECK(a.status == 500);
    CHECK(a.body == "{\"code\":\"internal_error\"}");
    CHECK(a.fields.at("connection") == "close");
    raw_client next(s.port());
    REQUIRE(next.send(get("/quick")));
    CHECK(next.read_answer().status == 200);
}

TEST_CASE("refusals carry their status and the handler's body, and close the connection") {
    running_server s;
    const std::vector<std::pair<std::string, unsigned>> cases = {
        {"GET / HTTP/1.1\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: h\r\n\r\n", 411},
        {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
        {"GET /" + std::string(9000, 'x') + " HTTP/1.1\r\nHost: h\r\n\r\n", 414},
        {get("/", "X: " + std::string(40000, 'x') + "\r\n"), 431},
        {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: magic\r\n\r\n", 417},
        {"POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nZ\r\n", 400},
        {"\x16\x03\x01\x02\x00\x01", 400},
    };
    for (const auto& [request, status] : cases) {
        CAPTURE(request.substr(0, 60));
        raw_client c(s.port());
        REQUIRE(c.send(request));
        const answer a = c.read_answer();
        CHECK(a.status == status);
        CHECK(a.clean);
        CHECK(a.fields.at("connection") == "close");
        CHECK(a.body.starts_with("{\"code\":"));
        std::string rest;
        c.shutdown_send();
        c.read_to_end(rest);
        CHECK(rest.empty());
    }
    CHECK(s.handler().requests().empty());
    CHECK(s.handler().refusals().size() == cases.size());
    CHECK(s.counters().refused == cases.size());
}

TEST_CASE("a refusal is readable though the client went on sending") {
    running_server s;
    raw_client c(s.port());
    REQUIRE(c.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n" +
                   std::string(100000, 'x')));
    CHECK(c.read_answer().status == 400);
}

TEST_CASE("an answer before the whole body came closes the connection") {
    running_server s;
    raw_client c(s.port());
    REQUIRE(c.send("POST /early HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\nabc"));
    const answer a = c.read_answer();
    CHECK(a.status == 413);
    CHECK(a.fields.at("connection") == "close");
}

TEST_CASE("Connection: close and close_after end the connection cleanly") {
    running_server s;
    for (const std::string& request : {get("/quick", "Connection: close\r\n"), get("/close")}) {
        raw_client c(s.port());
        REQUIRE(c.send(request));
        const answer a = c.read_answer();
        CHECK(a.fields.at("connection") == "close");
        CHECK_FALSE(a.fields.contains("keep-alive"));
        std::string rest;
        CHECK(c.read_to_end(rest));
        CHECK(rest.empty());
    }
}

TEST_CASE("a client that closed its sending side still gets a quick answer") {
    running_server s;
    raw_client c(s.port());
    REQUIRE(c.send(get("/quick")));
    c.shutdown_send();
    CHECK(c.read_answer().body == "[quick]");
    std::string rest;
    CHECK(c.read_to_end(rest));
}

TEST_CASE("the handler hears that the client left, once") {
    running_server s;
    raw_client c(s.port());
    REQUIRE(c.send(post("/wait", "x")));
    REQUIRE(eventually([&] { return s.handler().serving == 1; }));
    SUBCASE("by a FIN") {
        c.shutdown_send();
    }
    SUBCASE("by closing") {
        c.close();
    }
    CHECK(eventually([&] { return s.handler().gone_calls == 1 && s.handler().serving == 0; }));
}

TEST_CASE("a request sent ahead is not a departure") {
    running_server s;
    raw_client c(s.port());
    REQUIRE(c.send(get("/wait")));
    REQUIRE(eventually([&] { return s.handler().serving == 1; }));
    REQUIRE(c.send(get("/quick")));
    s.on_thread([&] { s.handler().woken.notify(); });
    CHECK(c.read_answer().body == "after");
    CHECK(c.read_answer().body == "[quick]");
    CHECK(s.handler().gone_calls == 0);
}

TEST_CASE("a client that leaves behind a request sent ahead is still noticed") {
    running_server s;
    raw_client c(s.port());
    REQUIRE(c.send(get("/wait") + get("/quick")));
    REQUIRE(eventually([&] { return s.handler().serving == 1; }));
    c.close();
    CHECK(eventually([&] { return s.handler().gone_calls == 1; }));
}

TEST_CASE("a client that leaves in the middle of a body is reported") {
    running_server s;
    raw_client c(s.port());
    REQUIRE(c.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc"));
    c.close();
    REQUIRE(eventually([&] { return s.handler().refusals().size() == 1; }));
    CHECK(s.handler().refusals()[0].why == reason::client_gone);
    CHECK(s.handler().requests().empty());
}

TEST_CASE("an upgraded connection is a tunnel") {
    running_server s;
    raw_client c(s.port());
    REQUIRE(c.send(get("/tunnel", "Connection: Upgrade\r\nUpgrade: websocket\r\n") + "first"));
    const answer a = c.read_answer();
    CHECK(a.status == 101);
    CHECK(a.fields.at("connection") == "Upgrade");
    CHECK(a.fields.at("upgrade") == "echo");
    CHECK_FALSE(a.fields.contains("content-length"));
    REQUIRE(c.send(" second"));
    c.shutdown_send();
    std::string rest;
    CHECK(c.read_to_end(rest));
    CHECK(rest == "first second");
}

TEST_CASE("connections beyond the cap get 503 and the others go on") {
    http::server_limits limits;
    limits.connections = 2;
    running_server s(limits);
    raw_client one(s.port());
    raw_client two(s.port());
    REQUIRE(eventually([&] { return s.counters().open == 2; }));
    raw_client three(s.port());
    const answer a = three.read_answer();
    CHECK(a.status == 503);
    CHECK(a.fields.at("retry-after") == "1");
    CHECK(a.fields.at("connection") == "close");
    CHECK(a.body == "{\"code\":\"overloaded\"}");
    REQUIRE(one.send(get("/quick")));
    CHECK(one.read_answer().status == 200);
    two.close();
    REQUIRE(eventually([&] { return s.counters().open == 1; }));
    raw_client four(s.port());
    REQUIRE(four.send(get("/quick")));
    CHECK(four.read_answer().status == 200);
}

TEST_CASE("draining: answers say close, idle connections go, new ones are served") {
    running_server s;
    raw_client idle(s.port());
    raw_client busy(s.port());
    REQUIRE(idle.send(get("/quick")));
    REQUIRE(idle.read_answer().clean);
    REQUIRE(busy.send(get("/wait")));
    REQUIRE(eventually([&] { return s.handler().serving == 1; }));
    s.on_thread([&] { s.server().drain(); });
    std::string rest;
    CHECK(idle.read_to_end(rest));
    s.on_thread([&] { s.handler().woken.notify(); });
    const answer a = busy.read_answer();
    CHECK(a.body == "after");
    CHECK(a.fields.at("connection") == "close");
    raw_client fresh(s.port());
    REQUIRE(fresh.send(get("/quick")));
    CHECK(fresh.read_answer().fields.at("connection") == "close");
}

TEST_CASE("stopping cuts answers under way without a clean end") {
    running_server s;
    raw_client c(s.port());
    REQUIRE(c.send(get("/begin")));
    REQUIRE(eventually([&] { return s.counters().open == 1; }));
    s.on_thread([&] { s.server().stop(); });
    std::string all;
    CHECK_FALSE(c.read_to_end(all));
    s.on_thread([&] { s.handler().woken.notify(); });
    CHECK(eventually([&] { return s.counters().open == 0; }));
}

TEST_CASE("listen says what is wrong") {
    boost::asio::io_context context(1);
    path_handler h(context.get_executor());
    http::server s(context.get_executor(), h, {});
    CHECK(s.listen("localhost", 0, nullptr) == "\"localhost\" is not an IP address");
    CHECK(s.listen("192.0.2.1", 0, nullptr).starts_with("cannot listen on 192.0.2.1:0: "));
}

TEST_CASE("the threads of a process share one port, and a second taker is refused") {
    running_server s;
    boost::asio::io_context context(1);
    path_handler h(context.get_executor());
    http::server second(context.get_executor(), h, {});
    CHECK(second.listen("127.0.0.1", s.port(), nullptr) ==
          "cannot listen on 127.0.0.1:" + std::to_string(s.port()) + ": Address already in use");
    CHECK(second.listen("127.0.0.1", s.port(), nullptr, net::seat::further).empty());
    CHECK(second.port() == s.port());
}
