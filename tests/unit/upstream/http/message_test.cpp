#include "upstream/http/message.hpp"

#include <doctest/doctest.h>

using namespace idem::upstream::http;

TEST_CASE("status lines carry the registered phrase, a given one, or none") {
    std::string out;
    append_status_line(out, 200);
    append_status_line(out, 299);
    append_status_line(out, 404, "Nope");
    CHECK(out == "HTTP/1.1 200 OK\r\nHTTP/1.1 299 \r\nHTTP/1.1 404 Nope\r\n");
}

TEST_CASE("a field value cannot end its own line") {
    std::string out;
    append_field(out, "X", std::string_view("a\r\nEvil: 1\0", 11));
    CHECK(out == "X: a  Evil: 1 \r\n");
}

TEST_CASE("hop-by-hop fields are the known ones and those that Connection names") {
    for (const char* name : {"connection", "Keep-Alive", "PROXY-CONNECTION", "te", "Trailer", "transfer-encoding",
                             "upgrade", "Proxy-Authenticate", "proxy-authorization"}) {
        CHECK(hop_by_hop(name, ""));
    }
    CHECK(hop_by_hop("X-Trace", "close, x-trace"));
    CHECK_FALSE(hop_by_hop("X-Trace", "close"));
    CHECK_FALSE(hop_by_hop("Content-Type", ""));
}
