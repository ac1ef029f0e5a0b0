#include "cache/redis/session.hpp"

#include <doctest/doctest.h>

#include "tests/unit/cache/redis/session_driver.hpp"

using namespace idem::cache::redis;
using namespace idem::cache::redis::test;

TEST_CASE("commands wait for the connection and go out together") {
    driver d;
    d.start();
    d.get(1);
    d.get(2);
    CHECK(d.output.empty());
    d.connect();
    d.flush();
    CHECK(d.output == first_ping);
    d.output.clear();
    d.answer(first_pong);
    CHECK(d.output == "*2\r\n$3\r\nGET\r\n$2\r\nk1\r\n*2\r\n$3\r\nGET\r\n$2\r\nk2\r\n");
    d.flush();
    d.answer("$1\r\na\r\n$-1\r\n");
    CHECK(d.results.at(1).value.text == "a");
    CHECK(d.results.at(2).value.type == reply_type::nil);
    CHECK(d.machine.load() == 0);
}

TEST_CASE("replies go to their own slots in order, many to one read") {
    driver d;
    d.make_ready();
    for (std::uint64_t t = 1; t <= 5; ++t) {
        d.get(t);
    }
    d.flush();
    d.answer("$1\r\n1\r\n$1\r\n2\r\n$1\r");
    d.answer("\n3\r\n-OOM no\r\n$1\r\n5\r\n");
    CHECK(d.order == std::vector<std::uint64_t>{1, 2, 3, 4, 5});
    CHECK(d.results.at(3).value.text == "3");
    CHECK(d.why(4) == fault::oom);
    CHECK(d.results.at(5).value.text == "5");
    CHECK_FALSE(d.closed);
}

TEST_CASE("a caller who leaves: the reply is read and dropped") {
    driver d;
    d.make_ready();
    const auto one = d.get(1);
    d.get(2);
    d.flush();
    d.machine.detach(*one);
    d.answer("$1\r\n1\r\n$1\r\n2\r\n");
    CHECK(d.results.count(1) == 0);
    CHECK(d.results.at(2).value.text == "2");
    CHECK(d.machine.load() == 0);
}

TEST_CASE("a caller who leaves before the connection is there: its command is never sent") {
    driver d;
    d.start();
    const auto one = d.get(1);
    d.get(2);
    d.machine.detach(*one);
    d.connect();
    d.flush();
    d.output.clear();
    d.answer(first_pong);
    CHECK(d.output == "*2\r\n$3\r\nGET\r\n$2\r\nk2\r\n");
}

TEST_CASE("a caller who leaves with the result at the door gets nothing") {
    driver d;
    d.make_ready();
    const auto one = d.get(1);
    d.flush();
    d.reading = false;
    d.machine.received("$1\r\n1\r\n", d.now);
    d.machine.detach(*one);
    d.pump();
    CHECK(d.results.empty());
}

TEST_CASE("a byte that answers nothing closes the connection") {
    driver d;
    d.make_ready();
    d.answer("$");
    CHECK(d.closed);
    CHECK(d.machine.failure() == fault::unexpected_reply);
}

TEST_CASE("an extra reply closes the connection") {
    driver d;
    d.make_ready();
    d.get(1);
    d.flush();
    d.answer("$1\r\n1\r\n$1\r\n1\r\n");
    CHECK(d.results.at(1).value.text == "1");
    CHECK(d.closed);
    CHECK(d.machine.failure() == fault::unexpected_reply);
}

TEST_CASE("a reply to a command that was not sent yet closes the connection") {
    driver d;
    d.make_ready();
    const std::string large(100'000, 'v');
    d.ask(1, command::set_nx_get("k", large, 1000));
    d.ask(2, command::get("k2"));
    REQUIRE(d.writing);  // the large one; the second is not handed out
    d.answer("$-1\r\n$1\r\n2\r\n");
    CHECK(d.why(1) == fault::none);
    CHECK(d.why(2) == fault::unexpected_reply);
    CHECK(d.closed);
}

TEST_CASE("a reply of a type that the command cannot have closes the connection") {
    for (const std::string_view bytes : {"+OK\r\n", ":1\r\n", "*0\r\n"}) {
        driver d;
        d.make_ready();
        d.get(1);
        d.get(2);
        d.flush();
        d.answer(bytes);
        CHECK(d.why(1) == fault::unexpected_reply);
        CHECK(d.why(2) == fault::unexpected_reply);
        CHECK(d.results.at(2).collateral);
        CHECK(d.closed);
    }
}

TEST_CASE("a server that became a replica is left after the last reply") {
    driver d;
    d.make_ready();
    d.get(1);
    d.get(2);
    d.flush();
    d.answer("-READONLY You can't write against a read only replica.\r\n");
    CHECK(d.why(1) == fault::readonly);
    CHECK_FALSE(d.closed);
    CHECK_FALSE(d.machine.open());
    CHECK_FALSE(d.get(3));
    d.answer("$1\r\n2\r\n");
    CHECK(d.why(2) == fault::none);
    CHECK(d.closed);
    CHECK(d.machine.failure() == fault::readonly);
}

TEST_CASE("queues are bounded in commands and in bytes") {
    session_settings s = plain_settings();
    s.slots = 2;
    s.queued_bytes = 1000;
    driver d(s);
    d.start();
    CHECK(d.get(1));
    CHECK(d.get(2));
    CHECK_FALSE(d.get(3));
    driver e(s);
    e.make_ready();
    CHECK_FALSE(e.ask(1, command::set_nx_get("k", std::string(1000, 'v'), 0)));
    CHECK(e.ask(2, command::set_nx_get("k", std::string(800, 'v'), 0)));
    CHECK_FALSE(e.ask(3, command::set_nx_get("k", std::string(800, 'v'), 0)));
    e.flush();
    CHECK(e.ask(4, command::get("k")));
}
