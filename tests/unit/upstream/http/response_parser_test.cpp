#include <doctest/doctest.h>

#include "tests/unit/upstream/http/transcript.hpp"

using namespace idem;
using namespace idem::tests;
using namespace idem::upstream::http;

namespace {

transcript parse(std::string_view message) {
    const auto [whole, bytewise] = both_ways<response_parser>(message);
    CHECK(whole == bytewise);
    return whole;
}

std::string ok(std::string_view lines, std::string_view body = {}) {
    return "HTTP/1.1 200 OK\r\n" + std::string(lines) + "\r\n" + std::string(body);
}

response_head head_of(std::string_view message) {
    response_parser p;
    (void)p.next(message);
    return p.head();
}

}  // namespace

TEST_CASE("answers by length and in chunks are read to their end") {
    CHECK(parse(ok("Content-Length: 3\r\n", "abcHTTP/1.1")).body == "abc");
    const transcript t = parse(ok("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\nSet-Cookie: x\r\n\r\n"));
    CHECK(t.events == "head complete");
    CHECK(t.body == "abc");
    const response_head h = head_of("HTTP/1.1 404 Not Here\r\nContent-Length: 0\r\n\r\n");
    CHECK(h.status == 404);
    CHECK(h.reason_phrase == "Not Here");
    CHECK(h.framing == body_framing::length);
    CHECK(h.keep_alive);
}

TEST_CASE("an answer without a length lasts until the connection closes") {
    response_parser p;
    const transcript t = run(p, ok("Content-Type: text/plain\r\n", "some"), {});
    CHECK(t.events == "head more");
    CHECK(t.body == "some");
    CHECK(p.head().framing == body_framing::close_delimited);
    CHECK_FALSE(p.head().keep_alive);
    CHECK_FALSE(p.complete());
    CHECK(p.finish().event == parse_event::complete);
    CHECK(p.complete());
}

TEST_CASE("an end before the framing says so is an error") {
    for (const std::string& message :
         {ok("Content-Length: 5\r\n", "abc"), ok("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n"),
          std::string("HTTP/1.1 200 OK\r\n"), std::string()}) {
        response_parser p;
        (void)run(p, message, {});
        const parsed e = p.finish();
        CHECK(e.event == parse_event::error);
        CHECK(e.why == reason::framing_incomplete);
        CHECK_FALSE(p.complete());
    }
}

TEST_CASE("answers whose framing two readers could see differently are refused") {
    for (const std::string lines :
         {"Transfer-Encoding: gzip\r\nContent-Length: 5\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
          "Transfer-Encoding: gzip\r\n", "Transfer-Encoding: gzip, chunked\r\n",
          "Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: 5, 5\r\n", "Content-Length: x\r\n",
          "X: a\r\n b\r\n", "X : a\r\n", "X: a\rb\r\n"}) {
        CAPTURE(lines);
        CHECK(parse(ok(lines)).refused(reason::upstream_malformed));
    }
    CHECK(parse("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").refused(reason::upstream_malformed));
}

TEST_CASE("status lines") {
    for (const std::string line : {"HTTP/1.1 099 x", "HTTP/1.1 600 x", "HTTP/1.1 999 x", "HTTP/1.1 20 x",
                                   "HTTP/2.0 200 x", "ICY 200 OK", "HTTP/1.1 2000 x", "HTTP/1.1 200 a\x01"}) {
        CAPTURE(line);
        CHECK(parse(line + "\r\n\r\n").refused(reason::upstream_malformed));
    }
    CHECK(head_of("HTTP/1.1 599 \r\n\r\n").status == 599);
    CHECK(head_of("HTTP/1.0 200\r\n\r\n").status == 200);
    CHECK(head_of("HTTP/1.1 200 caf\xc3\xa9 \r\n\r\n").reason_phrase == "caf\xc3\xa9 ");
}

TEST_CASE("1xx, 204, 304 and answers to HEAD have no body whatever they say") {
    for (const std::string status : {"100", "103", "204", "304"}) {
        CAPTURE(status);
        const std::string message = "HTTP/1.1 " + status + " x\r\nContent-Length: 5\r\n\r\nhello";
        const transcript t = parse(message);
        CHECK(t.events == "head complete");
        CHECK(t.consumed == message.size() - 5);
    }
    response_parser p;
    p.reset(true);
    CHECK(run(p, ok("Content-Length: 5\r\n"), {}).events == "head complete");
    CHECK(p.head().headers.find("Content-Length") == "5");
    CHECK(p.head().keep_alive);
}

TEST_CASE("an interim answer is followed by the real one after a reset") {
    const std::string message = "HTTP/1.1 100 Continue\r\n\r\n" + ok("Content-Length: 2\r\n", "ab");
    response_parser p;
    const transcript first = run(p, message, {});
    CHECK(p.head().status == 100);
    p.reset();
    CHECK(run(p, message.substr(first.consumed), {}).body == "ab");
    CHECK(p.head().status == 200);
}

TEST_CASE("caps hold for answers too") {
    CHECK(parse(ok("X: " + std::string(33 * 1024, 'x') + "\r\n")).refused(reason::upstream_malformed));
    CHECK(parse(ok("Transfer-Encoding: chunked\r\n", "1;" + std::string(300, 'e'))).events ==
          "head error:upstream_malformed");
}
