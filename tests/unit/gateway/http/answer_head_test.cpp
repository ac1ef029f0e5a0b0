#include "gateway/http/answer_head.hpp"

#include <doctest/doctest.h>

using namespace idem::gateway::http;

TEST_CASE("the status is read from the status line") {
    CHECK(status_in("HTTP/1.1 204 No Content\r\n") == 204);
    CHECK(status_in("HTTP/1.1 ") == 0);
    CHECK(status_in("HTTP/1.1 abc x") == 0);
}

TEST_CASE("framing follows status, method and version") {
    const auto framing = [](unsigned status, bool to_head, unsigned version, body_framing wanted) {
        return frame_answer(status, to_head, version, true, wanted, 5).framing;
    };
    CHECK(framing(200, false, 11, body_framing::chunked) == body_framing::chunked);
    CHECK(framing(200, false, 11, body_framing::close_delimited) == body_framing::chunked);
    CHECK(framing(200, false, 11, body_framing::length) == body_framing::length);
    CHECK(framing(200, true, 11, body_framing::chunked) == body_framing::none);
    CHECK(framing(204, false, 11, body_framing::length) == body_framing::none);
    CHECK(framing(304, false, 11, body_framing::chunked) == body_framing::none);
    CHECK(framing(101, false, 11, body_framing::chunked) == body_framing::none);
    CHECK(framing(200, false, 10, body_framing::length) == body_framing::length);
    CHECK(framing(200, false, 10, body_framing::chunked) == body_framing::close_delimited);
    CHECK_FALSE(frame_answer(200, false, 10, true, body_framing::chunked, 0).keep_alive);
    CHECK(frame_answer(200, false, 10, true, body_framing::length, 0).keep_alive);
}

TEST_CASE("the head ends with framing, the connection's fields and an empty line") {
    const auto finished = [](unsigned status, bool to_head, body_framing wanted, std::uint64_t length) {
        std::string head = "H\r\n";
        finish_head(head, status, frame_answer(status, to_head, 11, true, wanted, length), wanted, length, "F\r\n");
        return head;
    };
    CHECK(finished(200, false, body_framing::length, 12) == "H\r\nContent-Length: 12\r\nF\r\n\r\n");
    CHECK(finished(200, false, body_framing::chunked, 0) == "H\r\nTransfer-Encoding: chunked\r\nF\r\n\r\n");
    CHECK(finished(200, false, body_framing::none, 0) == "H\r\nContent-Length: 0\r\nF\r\n\r\n");
    CHECK(finished(200, true, body_framing::length, 12) == "H\r\nContent-Length: 12\r\nF\r\n\r\n");
    CHECK(finished(200, true, body_framing::chunked, 0) == "H\r\nF\r\n\r\n");
    CHECK(finished(204, false, body_framing::length, 0) == "H\r\nF\r\n\r\n");
    CHECK(finished(304, false, body_framing::length, 9) == "H\r\nF\r\n\r\n");
}

TEST_CASE("connection fields name the timeout, and the date is an IMF-fixdate") {
    head_fields f(std::chrono::seconds(75));
    const auto now = net::clock::now();
    const std::string keep(f.of(afterwards::keep_alive, now));
    CHECK(keep.starts_with("Date: "));
    CHECK(keep.ends_with(" GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=75\r\n"));
    CHECK(keep.find("\r\n") == 35);
    CHECK(f.of(afterwards::close, now).ends_with("Connection: close\r\n"));
    CHECK(f.of(afterwards::upgrade, now).ends_with("Connection: Upgrade\r\n"));
}
