#include "cache/redis/session.hpp"

#include <doctest/doctest.h>

#include "tests/unit/cache/redis/session_driver.hpp"

using namespace idem::cache::redis;
using namespace idem::cache::redis::test;

TEST_CASE("no byte within the progress deadline: closed, and everybody told") {
    driver d;
    d.make_ready();
    d.get(1);
    d.flush();
    CHECK(d.machine.deadline() == d.now + 50ms);
    d.pass(30ms);
    d.get(2);
    d.flush();  // its bytes went into the socket: no sign of life for the first
    d.pass(19ms);
    CHECK(d.results.empty());
    d.pass(1ms);
    CHECK(d.why(1) == fault::timeout);
    CHECK_FALSE(d.results.at(1).collateral);
    CHECK(d.why(2) == fault::timeout);
    CHECK(d.results.at(2).collateral);
    CHECK(d.closed);
}

TEST_CASE("bytes that come slowly are progress until the whole deadline") {
    driver d;
    d.make_ready();
    d.get(1);
    d.flush();
    d.answer("$100\r\n");
    for (int i = 0; i < 12; ++i) {
        d.pass(40ms);
        CHECK_FALSE(d.closed);
        d.answer("x");
    }
    CHECK(d.machine.deadline() == d.now + 20ms);
    d.pass(20ms);
    CHECK(d.closed);
    CHECK(d.why(1) == fault::timeout);
}

TEST_CASE("a large value that goes out piece by piece is progress") {
    driver d;
    d.make_ready();
    const std::string large(1'000'000, 'v');
    d.ask(1, command::set_nx_get("k", large, 1000));
    int writes = 0;
    while (d.writing) {
        d.pass(40ms);
        REQUIRE_FALSE(d.closed);
        d.writing = false;
        d.machine.written(d.now);
        d.pump();
        ++writes;
    }
    CHECK(writes == 4);
    CHECK(d.output.size() > large.size());
    d.answer("$-1\r\n");
    CHECK(d.why(1) == fault::none);
}

TEST_CASE("a command that waits for the connection gives up by itself") {
    driver d;
    d.start();
    d.get(1);
    d.pass(49ms);
    CHECK(d.results.empty());
    d.get(2);
    d.pass(1ms);
    CHECK(d.why(1) == fault::timeout);
    CHECK_FALSE(d.closed);
    d.connect();
    d.flush();
    d.answer(first_pong);
    d.flush();
    d.answer("$1\r\n2\r\n");
    CHECK(d.why(2) == fault::none);
}

TEST_CASE("connect and handshake have deadlines") {
    driver d;
    d.start();
    CHECK(d.machine.deadline() == d.now + 500ms);
    d.pass(500ms);
    CHECK(d.closed);
    CHECK(d.machine.failure() == fault::connect_failed);

    driver h;
    h.start();
    h.connect();
    h.flush();
    CHECK(h.machine.deadline() == h.now + 50ms);
    h.pass(50ms);
    CHECK(h.closed);
    CHECK(h.machine.failure() == fault::timeout);
}

TEST_CASE("an idle connection is asked whether replies still match") {
    driver d;
    d.make_ready();
    CHECK(d.machine.deadline() == d.now + 10s);
    d.pass(10s);
    CHECK(d.output == "*2\r\n$4\r\nPING\r\n$1\r\n8\r\n");
    d.flush();
    d.get(1);
    d.flush();
    SUBCASE("they do") {
        d.answer("$1\r\n8\r\n$1\r\n1\r\n");
        CHECK(d.results.at(1).value.text == "1");
        CHECK(d.machine.deadline() == d.now + 10s);
    }
    SUBCASE("they do not") {
        d.answer("$1\r\n1\r\n$1\r\n8\r\n");
        CHECK(d.closed);
        CHECK(d.machine.failure() == fault::desync);
        CHECK(d.why(1) == fault::desync);
    }
    SUBCASE("no answer") {
        d.pass(50ms);
        CHECK(d.machine.failure() == fault::timeout);
    }
}
