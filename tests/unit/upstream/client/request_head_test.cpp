#include "upstream/client/request_head.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace idem::upstream;
using namespace idem::upstream::client;

namespace {

target engine() {
    target t;
    t.host = "engine";
    t.port = 8000;
    return t;
}

std::string head_of(const outgoing& out) {
    std::string head;
    REQUIRE(compose_head(head, out, engine()));
    return head;
}

}  // namespace

TEST_CASE("framing, host and connection are made by this hop") {
    outgoing out;
    out.method = "POST";
    out.target = "/v1/x?y=z";
    for (const auto& [name, value] : {std::pair{"Host", "evil"},
                                      {"content-length", "7"},
                                      {"Transfer-Encoding", "gzip"},
                                      {"Connection", "close"},
                                      {"Keep-Alive", "timeout=5"},
                                      {"TE", "trailers"},
                                      {"Upgrade", "h2c"},
                                      {"Expect", "100-continue"},
                                      {"Proxy-Connection", "x"},
                                      {"Accept", "*/*"},
                                      {"X-A", ""}}) {
        out.headers.add(name, value);
    }
    CHECK(head_of(out) ==
          "POST /v1/x?y=z HTTP/1.1\r\nHost: engine:8000\r\nAccept: */*\r\nX-A: \r\nContent-Length: 0\r\n\r\n");
    out.framing = http::body_framing::length;
    out.length = 12345678901;
    CHECK(head_of(out).ends_with("Content-Length: 12345678901\r\n\r\n"));
    out.framing = http::body_framing::chunked;
    CHECK(head_of(out).ends_with("Transfer-Encoding: chunked\r\n\r\n"));
    out.method = "GET";
    out.framing = http::body_framing::none;
    CHECK(head_of(out).ends_with("X-A: \r\n\r\n"));
    out.upgrade = true;
    out.upgrade_to = "websocket";
    CHECK(head_of(out).ends_with("Connection: upgrade\r\nUpgrade: websocket\r\n\r\n"));
}

TEST_CASE("no part can smuggle a line") {
    std::string head;
    for (const std::string_view poison : {std::string_view("a\r\nb: c"), std::string_view("a\nb"),
                                          std::string_view("a\r"), std::string_view("a\0b", 3)}) {
        outgoing out;
        out.method = "GET";
        out.target = "/";
        CHECK(compose_head(head, out, engine()));
        outgoing bad = out;
        bad.target = poison;
        CHECK_FALSE(compose_head(head, bad, engine()));
        bad = out;
        bad.method = poison;
        CHECK_FALSE(compose_head(head, bad, engine()));
        bad = out;
        bad.headers.add("x", poison);  // made harmless instead (RFC 9110 section 5.5)
        CHECK(compose_head(head, bad, engine()));
        CHECK(head.find("\r\nx: a ") != std::string::npos);
        CHECK(std::count(head.begin(), head.end(), '\n') == 4);
        bad = out;
        bad.headers.add(poison, "x");
        CHECK_FALSE(compose_head(head, bad, engine()));
        bad = out;
        bad.upgrade = true;
        bad.upgrade_to = poison;
        CHECK_FALSE(compose_head(head, bad, engine()));
    }
}

TEST_CASE("Keep-Alive says how long") {
    CHECK(keep_alive_seconds("timeout=5") == 5);
    CHECK(keep_alive_seconds("max=100, Timeout=75") == 75);
    CHECK(keep_alive_seconds(" timeout=5 , max=100") == 5);
    CHECK_FALSE(keep_alive_seconds(""));
    CHECK_FALSE(keep_alive_seconds("timeout"));
    CHECK_FALSE(keep_alive_seconds("timeout=x"));
    CHECK_FALSE(keep_alive_seconds("timeout=99999999999999999999"));
    CHECK_FALSE(keep_alive_seconds(",,,"));
}
