// The rows of a probe of Beast 1.81's parser (what it lets through), the rules of RFC 9112 and our caps, one case each;
// every message is parsed whole and byte by byte.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tests/unit/upstream/http/transcript.hpp"

using namespace idem;
using namespace idem::tests;
using namespace idem::upstream::http;

namespace {

transcript parse(std::string_view message) {
    const auto [whole, bytewise] = both_ways<request_parser>(message);
    CHECK(whole == bytewise);
    return whole;
}

std::string post(std::string_view lines, std::string_view body = {}) {
    return "POST /v1/x HTTP/1.1\r\nHost: h\r\n" + std::string(lines) + "\r\n" + std::string(body);
}

std::string get(std::string_view lines) {
    return "GET / HTTP/1.1\r\n" + std::string(lines) + "\r\n";
}

std::string get_target(std::string_view target) {
    return "GET " + std::string(target) + " HTTP/1.1\r\nHost: h\r\n\r\n";
}

request_head head_of(std::string_view message) {
    request_parser p;
    (void)p.next(message);
    return p.head();
}

}  // namespace

TEST_CASE("a request with a body is read to its end and not beyond") {
    const std::string one = post("Content-Length: 5\r\nX-A:  b \r\n", "hello");
    const transcript t = parse(one + "GET / HTTP/1.1\r\n");
    CHECK(t.events == "head complete");
    CHECK(t.body == "hello");
    CHECK(t.consumed == one.size());
    const request_head h = head_of(one);
    CHECK(h.method == "POST");
    CHECK(h.target == "/v1/x");
    CHECK(h.version == 11);
    CHECK(h.framing == body_framing::length);
    CHECK(h.length == 5);
    CHECK(h.headers.find("x-a") == "b");
    CHECK(h.keep_alive);
}

TEST_CASE("a chunked body is decoded; extensions and trailers vanish") {
    const std::string message = post("Transfer-Encoding: chunked\r\n",
                                     "5;a=b\r\nhello\r\n00001\r\n!\r\n0\r\nX-T: 1\r\nAuthorization: evil\r\n\r\n");
    const transcript t = parse(message);
    CHECK(t.events == "head complete");
    CHECK(t.body == "hello!");
    CHECK(t.consumed == message.size());
}

TEST_CASE("trailers never become headers") {
    const std::string message = post("Transfer-Encoding: chunked\r\n",
                                     "0\r\nX: 1\r\nAuthorization: a\r\nHost: evil\r\nConnection: close\r\n\r\n");
    request_parser p;
    std::string_view in = message;
    for (;;) {
        const parsed e = p.next(in);
        in.remove_prefix(e.consumed);
        if (e.event == parse_event::complete) break;
        REQUIRE(e.event != parse_event::error);
        REQUIRE(e.event != parse_event::need_more);
    }
    CHECK(p.complete());
    CHECK(p.head().headers.size() == 2);
    CHECK(p.head().headers.find("Host") == "h");
    CHECK_FALSE(p.head().headers.find("Authorization").has_value());
    CHECK(p.head().keep_alive);
}

TEST_CASE("Content-Length and Transfer-Encoding together are refused in either order") {
    CHECK(parse(post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")).refused(reason::bad_request));
    CHECK(parse(post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n")).refused(reason::bad_request));
    CHECK(parse(post("Transfer-Encoding: gzip\r\nContent-Length: 5\r\n")).refused(reason::bad_request));
    CHECK(parse(post("Content-Length: 5\r\nTransfer-Encoding: gzip\r\n")).refused(reason::bad_request));
}

TEST_CASE("any transfer coding but exactly one chunked is refused") {
    for (const std::string value : {"gzip", "chunked, gzip", "xchunked", "gzip, chunked", "chunked;q=1", "identity"}) {
        CAPTURE(value);
        CHECK(parse(post("Transfer-Encoding: " + value + "\r\n")).refused(reason::unsupported_framing));
    }
    for (const std::string value : {"chunked, chunked", "\"chunked\"", "", "chunked,,gzip", ",chunked"}) {
        CAPTURE(value);
        CHECK(parse(post("Transfer-Encoding: " + value + "\r\n")).refused(reason::bad_request));
    }
    CHECK(parse(post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")).refused(reason::bad_request));
    CHECK(parse(post("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n")).refused(reason::bad_request));
    CHECK(parse(post("Transfer-Encoding: cHuNkEd\r\n", "0\r\n\r\n")).events == "head complete");
}

TEST_CASE("Transfer-Encoding does not exist in HTTP/1.0") {
    CHECK(parse("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n").refused(reason::bad_request));
}

TEST_CASE("Content-Length is one line of digits") {
    CHECK(parse(post("Content-Length: 5\r\nContent-Length: 5\r\n")).refused(reason::bad_request));
    CHECK(parse(post("Content-Length: 5\r\nContent-Length: 6\r\n")).refused(reason::bad_request));
    for (const std::string value : {"5, 5", "5,5", "+5", "-5", "0x5", "5 5", "5.0", "", "18446744073709551616", "5a"}) {
        CAPTURE(value);
        CHECK(parse(post("Content-Length: " + value + "\r\n")).refused(reason::bad_request));
    }
    CHECK(parse(post("Content-Length: 05\r\n", "hello")).body == "hello");
    CHECK(parse(post("Content-Length: 0\r\n")).events == "head complete");
}

TEST_CASE("folded lines are refused, also where they would hide a field") {
    CHECK(parse(get("Host: h\r\nX: a\r\n b\r\n")).refused(reason::bad_request));
    CHECK(parse(get("Host: h\r\nX: a\r\n\tb\r\n")).refused(reason::bad_request));
    CHECK(parse(get("Host: h\r\n Content-Length: 5\r\n")).refused(reason::bad_request));
    CHECK(parse(get(" Host: h\r\n")).refused(reason::bad_request));
    CHECK(parse(post("Transfer-Encoding:\r\n chunked\r\n")).refused(reason::bad_request));
}

TEST_CASE("Host comes once and is a host") {
    CHECK(parse(get("X: y\r\n")).refused(reason::bad_request));
    CHECK(parse(get("Host: a\r\nHost: a\r\n")).refused(reason::bad_request));
    for (const std::string value :
         {"a b/../", "", "x/?", "x/#", "u@h", "h:port", "h:", "[::1", "h:123456", "a%zz", "a\\b", "a,b c"}) {
        CAPTURE(value);
        const bool ok = value == "h:";
        CHECK(parse(get("Host: " + value + "\r\n")).events == (ok ? "head complete" : "error:bad_request"));
    }
    for (const std::string value : {"h", "example.com:8080", "[::1]:80", "127.0.0.1", "a_b.c-d"}) {
        CAPTURE(value);
        CHECK(parse(get("Host: " + value + "\r\n")).events == "head complete");
    }
    CHECK(parse("GET / HTTP/1.0\r\n\r\n").events == "head complete");
}

TEST_CASE("whitespace around a field name is refused") {
    CHECK(parse(get("Host : h\r\n")).refused(reason::bad_request));
    CHECK(parse(post("Content-Length : 5\r\n")).refused(reason::bad_request));
    CHECK(parse(post("Transfer-Encoding\t: chunked\r\n")).refused(reason::bad_request));
    CHECK(parse(get("Host: h\r\n: empty name\r\n")).refused(reason::bad_request));
}

TEST_CASE("control characters, bare CR and bare LF are refused") {
    CHECK(parse("GET / HTTP/1.1\nHost: h\n\n").refused(reason::bad_request));
    CHECK(parse("GET / HTTP/1.1\r\nHost: h\n\r\n").refused(reason::bad_request));
    CHECK(parse(get("Host: h\r\nX: a\rb\r\n")).refused(reason::bad_request));
    CHECK(parse(get(std::string_view("Host: h\r\nX: a\0b\r\n", 17))).refused(reason::bad_request));
    CHECK(parse(get("Host: h\r\nX: a\x01\r\n")).refused(reason::bad_request));
    CHECK(parse(get("Host: h\r\nX: a\x7f\r\n")).refused(reason::bad_request));
    CHECK(parse("\r\rGET / HTTP/1.1\r\n").refused(reason::bad_request));
    CHECK(parse("\x16\x03\x01").refused(reason::bad_request));
}

TEST_CASE("obs-text in a value is kept") {
    CHECK(head_of(get("Host: h\r\nX: caf\xc3\xa9\r\n")).headers.find("X") == "caf\xc3\xa9");
}

TEST_CASE("versions other than 1.0 and 1.1 are refused") {
    for (const std::string version : {"HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "http/1.1", "HTTP/11", ""}) {
        CAPTURE(version);
        CHECK(parse("GET / " + version + "\r\nHost: h\r\n\r\n").refused(reason::bad_request));
    }
    CHECK(parse("GET /\r\n\r\n").refused(reason::bad_request));
}

TEST_CASE("POST, PUT and PATCH need a length") {
    for (const std::string method : {"POST", "PUT", "PATCH"}) {
        CHECK(parse(method + " / HTTP/1.1\r\nHost: h\r\n\r\n").refused(reason::length_required));
        CHECK(parse(method + " / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n").events == "head complete");
    }
    CHECK(parse("DELETE / HTTP/1.1\r\nHost: h\r\n\r\n").events == "head complete");
}

TEST_CASE("methods are capitals and hyphens") {
    CHECK(parse("bad_method / HTTP/1.1\r\nHost: h\r\n\r\n").refused(reason::bad_request));
    CHECK(parse("get / HTTP/1.1\r\nHost: h\r\n\r\n").refused(reason::bad_request));
    CHECK(parse(std::string(33, 'A') + " / HTTP/1.1\r\nHost: h\r\n\r\n").refused(reason::bad_request));
    CHECK(parse("VERSION-CONTROL / HTTP/1.1\r\nHost: h\r\n\r\n").events == "head complete");
}

TEST_CASE("targets: origin-form, absolute-form made origin-form, asterisk for OPTIONS") {
    CHECK(head_of(get_target("/a?b=c%20d")).target == "/a?b=c%20d");
    CHECK(head_of(get_target("http://other.example:80/v1/x?y")).target == "/v1/x?y");
    CHECK(head_of(get_target("HTTPS://h")).target == "/");
    CHECK(head_of(get_target("http://h?x")).target == "/?x");
    CHECK(head_of("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n").target == "*");
    CHECK(head_of("OPTIONS http://h HTTP/1.1\r\nHost: h\r\n\r\n").target == "*");
    for (const std::string target : {"*", "h:443", "v1/x", "ftp://h/", "http://", "http://u:p@h/", "/a#b", "/\xc3\xa9",
                                     "/a\x7f", "/a\tb", "http:///x", ""}) {
        CAPTURE(target);
        CHECK(parse(get_target(target)).refused(reason::bad_request));
    }
    CHECK(parse("CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n").refused(reason::bad_request));
}

TEST_CASE("Connection may not name fields that decide what is asked or by whom") {
    for (const std::string name : {"Host", "content-length", "AUTHORIZATION", "Content-Type", "x-api-key",
                                   "transfer-encoding", "Idem-Namespace", "x-goog-api-key"}) {
        CAPTURE(name);
        CHECK(parse(get("Host: h\r\nConnection: close, " + name + "\r\n")).refused(reason::bad_request));
        CHECK(parse(get("Host: h\r\nConnection: close\r\nConnection: " + name + "\r\n")).refused(reason::bad_request));
    }
    CHECK(parse(get("Host: h\r\nConnection: Upgrade, HTTP2-Settings, x-trace, TE\r\n")).events == "head complete");
}

TEST_CASE("several Connection lines become one list") {
    const request_head h = head_of(get("Host: h\r\nConnection: x-a\r\nY: 1\r\nConnection: close\r\n"));
    CHECK(h.headers.count("Connection") == 1);
    CHECK(h.headers.find("connection") == "x-a, close");
    CHECK_FALSE(h.keep_alive);
    CHECK(hop_by_hop("X-A", *h.headers.find("connection")));
    CHECK(parse(get("Host: h\r\nConnection: a b\r\n")).refused(reason::bad_request));
    // Joining moves the fields; what is decided by other lines must not notice.
    std::string lines = "Host: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n";
    for (int i = 0; i < 90; ++i) lines += "Connection: x-" + std::string(20, 'a') + std::to_string(i) + "\r\n";
    const request_head many = head_of("POST / HTTP/1.1\r\n" + lines + "\r\n");
    CHECK(many.expect_continue);
    CHECK(many.headers.size() == 4);
}

TEST_CASE("keep-alive follows version and Connection") {
    CHECK(head_of(get("Host: h\r\n")).keep_alive);
    CHECK_FALSE(head_of(get("Host: h\r\nConnection: Close\r\n")).keep_alive);
    CHECK_FALSE(head_of("GET / HTTP/1.0\r\n\r\n").keep_alive);
    CHECK(head_of("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").keep_alive);
}

TEST_CASE("names that another parser folds into framing or credential fields are refused") {
    for (const std::string name :
         {"Transfer_Encoding", "Content_Length", "Transfer___Encoding", "Transfer---Encoding", "X_Api_Key", "api_key",
          "content_type", "Authorization-", "_Authorization", "Idem_Namespace"}) {
        CAPTURE(name);
        CHECK(parse(get("Host: h\r\n" + name + ": 1\r\n")).refused(reason::bad_request));
    }
    CHECK(parse(get("Host: h\r\nMy_Custom_Header: 1\r\nX--Y: 2\r\n")).events == "head complete");
}

TEST_CASE("Expect: 100-continue is understood, anything else refused, HTTP/1.0 ignored") {
    CHECK(head_of(post("Content-Length: 5\r\nExpect: 100-Continue\r\n")).expect_continue);
    CHECK_FALSE(head_of(post("Content-Length: 0\r\nExpect: 100-continue\r\n")).expect_continue);
    CHECK(parse(post("Content-Length: 5\r\nExpect: 200-ok\r\n")).refused(reason::expectation_failed));
    CHECK_FALSE(head_of("POST / HTTP/1.0\r\nContent-Length: 5\r\nExpect: x\r\n\r\n").expect_continue);
}

TEST_CASE("an upgrade needs both fields") {
    CHECK(head_of(get("Host: h\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n")).upgrade);
    CHECK_FALSE(head_of(get("Host: h\r\nUpgrade: websocket\r\n")).upgrade);
    for (const char* other : {"h2c", "TLS/1.0", "websocketx", ""})
        CHECK_FALSE(head_of(get("Host: h\r\nConnection: Upgrade\r\nUpgrade: " + std::string(other) + "\r\n")).upgrade);
    CHECK_FALSE(head_of("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nConnection: Upgrade\r\n"
                        "Upgrade: websocket\r\n\r\n")
                    .upgrade);
    CHECK_FALSE(head_of(get("Host: h\r\nConnection: Upgrade\r\n")).upgrade);
}

TEST_CASE("one leading empty line is ignored, a second is not") {
    CHECK(parse("\r\n" + get("Host: h\r\n")).events == "head complete");
    CHECK(parse("\r\n\r\n" + get("Host: h\r\n")).refused(reason::bad_request));
}

TEST_CASE("caps: fields, head, target") {
    std::string lines = "Host: h\r\n";
    for (int i = 1; i < 100; ++i) lines += "a" + std::to_string(i) + ": b\r\n";
    CHECK(parse(get(lines)).events == "head complete");
    CHECK(parse(get(lines + "one: more\r\n")).refused(reason::header_too_large));
    CHECK(parse(get("Host: h\r\nX: " + std::string(33 * 1024, 'x') + "\r\n")).refused(reason::header_too_large));
    CHECK(parse(get_target("/" + std::string(8 * 1024 - 1, 'x'))).events == "head complete");
    CHECK(parse(get_target("/" + std::string(8 * 1024, 'x'))).refused(reason::uri_too_long));
    CHECK(parse("GET /" + std::string(9 * 1024, 'x')).refused(reason::uri_too_long));
    CHECK(parse("GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(33 * 1024, 'x')).refused(reason::header_too_large));
    const std::string exact = get("Host: h\r\nX: ");
    const std::string filler(32 * 1024 - exact.size() - 2, 'x');
    CHECK(parse(get("Host: h\r\nX: " + filler + "\r\n")).events == "head complete");
    CHECK(parse(get("Host: h\r\nX: " + filler + "y\r\n")).refused(reason::header_too_large));
}

TEST_CASE("caps: chunk extensions and trailers") {
    const std::string te = "Transfer-Encoding: chunked\r\n";
    const auto chunk = [&](std::size_t n) { return post(te, "1;" + std::string(n, 'e') + "\r\nx\r\n0\r\n\r\n"); };
    CHECK(parse(chunk(256)).events == "head complete");
    CHECK(parse(chunk(257)).events == "head error:bad_request");
    CHECK(parse(post(te, "0;" + std::string(300, 'e') + "\r\n\r\n")).events == "head error:bad_request");
    CHECK(parse(post(te, "0\r\nA: " + std::string(9000, 't') + "\r\n\r\n")).events == "head error:bad_request");
    std::string many;
    for (int i = 0; i < 2000; ++i) many += "a: b\r\n";
    CHECK(parse(post(te, "0\r\n" + many + "\r\n")).events == "head error:bad_request");
}

TEST_CASE("broken chunk framing is refused at once") {
    const std::string te = "Transfer-Encoding: chunked\r\n";
    for (const std::string body :
         {"5\nhello\r\n0\r\n\r\n", "5\r\nhello\n0\r\n\r\n", "5\r\nhelloX", "x\r\n", "\r\n", "-1\r\n", "0x5\r\n",
          "5 \r\n", "5;a\nb", "5;\"a\rb\"\r\n", "11111111111111111\r\n", "0\r\nnocolon\r\n\r\n",
          "0\r\n folded: x\r\n\r\n", "0\r\nX : y\r\n\r\n", "0\r\nX: a\nb\r\n\r\n", "0\r\n\n", "0\r\n: x\r\n\r\n"}) {
        CAPTURE(body);
        CHECK(parse(post(te, body)).events == "head error:bad_request");
    }
    CHECK(parse(post(te, "5\r\nhel")).events == "head more");
    CHECK(parse(post(te, "5\r\nhello\r\n0\r\n")).events == "head more");
}

TEST_CASE("a chunk size of 16 digits does not overflow") {
    const transcript t = parse(post("Transfer-Encoding: chunked\r\n", "ffffffffffffffff\r\nabc"));
    CHECK(t.events == "head more");
    CHECK(t.body == "abc");
}

TEST_CASE("an error is final") {
    request_parser p;
    CHECK(p.next("GET / HTTP/3\r\n\r\n").event == parse_event::error);
    CHECK(p.next(get("Host: h\r\n")).event == parse_event::error);
    p.reset();
    CHECK(p.next(get("Host: h\r\n")).event == parse_event::head);
}

TEST_CASE("one parser reads requests one after another") {
    request_parser p;
    std::string in = post("Content-Length: 2\r\n", "ab") + get("Host: second\r\n");
    const transcript first = run(p, in, {});
    CHECK(first.body == "ab");
    p.reset();
    const transcript second = run(p, in.substr(first.consumed), {});
    CHECK(second.events == "head complete");
    CHECK(p.head().method == "GET");
    CHECK(p.head().headers.size() == 1);
    CHECK(p.head().headers.find("host") == "second");
    CHECK(p.head().framing == body_framing::none);
}

TEST_CASE("any split of any message gives the same events") {
    const std::vector<std::string> messages = {
        post("Content-Length: 11\r\n", "hello world"),
        post("Transfer-Encoding: chunked\r\n", "3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: u\r\n\r\n"),
        post("Transfer-Encoding: chunked\r\n", "3\r\nabcd\r\n"),
        get("Host: h\r\nX: a\r\n b\r\n"),
        get("Host: h\r\nA: b\r\nC: d\r\n"),
        "\r\n" + get("Host: h\r\n"),
        "GET / HTTP/1.1\r\nHost: h\nX: y\r\n\r\n",
        post("Transfer-Encoding: gzip\r\n"),
    };
    CHECK(rc::check("random cuts", [&] {
        std::string message = *rc::gen::elementOf(messages);
        if (*rc::gen::inRange(0, 3) == 0) {
            const auto at = *rc::gen::inRange<std::size_t>(0, message.size());
            message[at] = *rc::gen::elementOf(std::string("\r\n\0 \t:;0aZ\xff", 11));
        }
        auto cuts = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, message.size()));
        std::sort(cuts.begin(), cuts.end());
        request_parser whole;
        request_parser split;
        RC_ASSERT(run(whole, message, {}) == run(split, message, cuts));
    }));
}
