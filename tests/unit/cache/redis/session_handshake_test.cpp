#include "cache/redis/session.hpp"

#include <doctest/doctest.h>

#include "tests/unit/cache/redis/session_driver.hpp"

using namespace idem::cache::redis;
using namespace idem::cache::redis::test;

TEST_CASE("handshake: everything at once, in order, and ready with the nonce") {
    session_settings s;
    s.user = "gateway";
    s.password = "secret";
    s.database = 3;
    driver d(s);
    d.start();
    CHECK(d.connecting);
    d.connect();
    d.flush();
    CHECK(d.output ==
          "*3\r\n$4\r\nAUTH\r\n$7\r\ngateway\r\n$6\r\nsecret\r\n"
          "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$4\r\nidem\r\n"
          "*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n" +
              std::string(first_ping));
    CHECK_FALSE(d.machine.ready());
    d.answer("+OK\r\n+OK\r\n+O");
    CHECK_FALSE(d.machine.ready());
    d.answer("K\r\n$1\r\n7\r\n");
    CHECK(d.machine.ready());
    CHECK_FALSE(d.closed);
}

TEST_CASE("handshake without user sends the old form of AUTH") {
    session_settings s = plain_settings();
    s.password = "secret";
    driver d(s);
    d.start();
    d.connect();
    CHECK(d.output == "*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n" + std::string(first_ping));
}

TEST_CASE("handshake that Redis refuses closes with the name of the refusal") {
    const auto refused = [](std::string_view bytes, session_settings s = plain_settings()) {
        driver d(std::move(s));
        d.start();
        d.connect();
        d.get(1);
        d.flush();
        d.answer(bytes);
        CHECK(d.closed);
        CHECK(d.why(1) == d.machine.failure());
        return d.machine.failure();
    };
    session_settings s = plain_settings();
    s.password = "secret";
    CHECK(refused("-WRONGPASS invalid username-password pair\r\n-NOAUTH x\r\n", s) == fault::wrongpass);
    CHECK(refused("-ERR wrong number of arguments for 'auth' command\r\n", s) == fault::wrongpass);
    CHECK(refused("-NOAUTH Authentication required.\r\n") == fault::noauth);
    CHECK(refused("-LOADING Redis is loading the dataset in memory\r\n") == fault::loading);
    CHECK(refused("$1\r\n8\r\n") == fault::desync);
    CHECK(refused("+PONG\r\n") == fault::unexpected_reply);
    CHECK(refused("HTTP/1.1 400 Bad Request\r\n") == fault::malformed);
    CHECK(refused("$1\r\n7\r\n+OK\r\n") == fault::unexpected_reply);
    s = plain_settings();
    s.database = 99;
    CHECK(refused("-ERR DB index is out of range\r\n", s) == fault::other_error);
}

TEST_CASE("a name that may not be set and a disk that cannot be written do not keep us from reading") {
    session_settings s;
    driver d(s);
    d.start();
    d.connect();
    d.flush();
    d.answer("-NOPERM this user has no permissions\r\n-MISCONF Redis is configured to save\r\n");
    CHECK(d.machine.ready());
}
