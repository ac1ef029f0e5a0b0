#include "cache/redis/session.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <functional>
#include <map>
#include <vector>

using namespace idem::cache::redis;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view first_ping = "*2\r\n$4\r\nPING\r\n$1\r\n7\r\n";
constexpr std::string_view first_pong = "$1\r\n7\r\n";

session_settings plain_settings() {
    session_settings s;
    s.name.clear();
    return s;
}

// Drives a session the way the shell does, and remembers what it was told.
struct driver {
    explicit driver(session_settings s = plain_settings()) : settings(std::move(s)), machine(settings, 7) {}

    session_settings settings;
    session machine;
    session::time_point now{1h};
    std::string output;  // finished writes
    std::map<std::uint64_t, session_result> results;
    std::vector<std::uint64_t> order;
    bool connecting = false, writing = false, reading = false, closed = false;

    void pump() {
        for (;;) {
            session_action a = machine.next();
            switch (a.kind) {
                case action_kind::wait:
                    return;
                case action_kind::connect:
                    connecting = true;
                    break;
                case action_kind::write:
                    REQUIRE_FALSE(writing);
                    REQUIRE_FALSE(closed);
                    REQUIRE_FALSE(a.bytes.empty());
                    writing = true;
                    output += a.bytes;
                    break;
                case action_kind::read:
                    REQUIRE_FALSE(reading);
                    reading = true;
                    break;
                case action_kind::deliver:
                    REQUIRE(results.emplace(a.token, std::move(a.result)).second);
                    order.push_back(a.token);
                    break;
                case action_kind::close:
                    REQUIRE_FALSE(closed);
                    closed = true;
                    break;
            }
        }
    }
    void start() {
        machine.start(now);
        pump();
    }
    void connect() {
        connecting = false;
        machine.connected(now);
        pump();
    }
    void flush() {
        while (writing && !closed) {
            writing = false;
            machine.written(now);
            pump();
        }
    }
    void answer(std::string_view bytes) {
        reading = false;
        machine.received(bytes, now);
        pump();
    }
    void lose(fault why) {
        machine.lost(why);
        pump();
    }
    void pass(std::chrono::milliseconds time) {
        now += time;
        machine.tick(now);
        pump();
    }
    std::optional<slot_id> ask(std::uint64_t token, command c) {
        const auto id = machine.enqueue(std::move(c), token, now);
        pump();
        return id;
    }
    std::optional<slot_id> get(std::uint64_t token) { return ask(token, command::get("k" + std::to_string(token))); }
    void make_ready() {
        start();
        connect();
        flush();
        answer(first_pong);
        REQUIRE(machine.ready());
        output.clear();
    }
    fault why(std::uint64_t token) const {
        const auto at = results.find(token);
        return at == results.end() ? fault::count_ : at->second.why;
    }
};

}  // namespace

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

// The script that "fails at every step" runs: connect, handshake, two callers, a large value, a PING.
TEST_CASE("fails at every step: every command is told exactly once, and the socket is closed once") {
    const std::string large(300'000, 'v');
    const std::vector<std::function<void(driver&)>> steps = {
        [](driver& d) { d.start(); },
        [](driver& d) { d.get(1); },
        [](driver& d) { d.connect(); },
        [](driver& d) { d.flush(); },
        [](driver& d) { d.answer("$1\r"); },
        [](driver& d) { d.answer("\n7\r\n"); },
        [](driver& d) { d.get(2); },
        [](driver& d) { d.flush(); },
        [&](driver& d) { d.ask(3, command::set_nx_get("k", large, 5)); },
        [](driver& d) { d.answer("$1\r\n1\r\n"); },
        [](driver& d) { d.flush(); },
        [](driver& d) { d.answer("$1\r\n2\r\n$-1"); },
        [](driver& d) { d.answer("\r\n"); },
        [](driver& d) { d.pass(10s); },
        [](driver& d) { d.flush(); },
        [](driver& d) { d.answer("$1\r\n8\r\n"); },
    };
    for (const fault why : {fault::closed, fault::connect_failed, fault::shut_down}) {
        for (std::size_t n = 1; n <= steps.size(); ++n) {
            CAPTURE(n);
            driver d;
            for (std::size_t i = 0; i < n; ++i) {
                steps[i](d);
            }
            CHECK_FALSE(d.closed);
            const std::uint64_t asked = n >= 9 ? 3 : n >= 7 ? 2 : n >= 2 ? 1 : 0;
            why == fault::shut_down ? d.machine.shut_down() : d.machine.lost(why);
            d.pump();
            CHECK(d.closed);
            CHECK(d.machine.failure() == why);
            CHECK(d.results.size() == asked);
            CHECK(d.machine.load() == 0);
            CHECK_FALSE(d.machine.deadline());
            // Operations that were under way still report; nothing happens any more.
            d.machine.connected(d.now);
            d.machine.written(d.now);
            d.machine.received("$1\r\n1\r\n", d.now);
            d.machine.lost(fault::timeout);
            d.machine.tick(d.now + 1h);
            CHECK_FALSE(d.get(9));
            d.pump();
            CHECK(d.results.size() == asked);
            CHECK(d.machine.failure() == why);
        }
    }
}

// A model of Redis answers GET kN with N. Whatever the order of asking, leaving, writing, cutting and answering: a
// caller gets its own answer or a fault.
TEST_CASE("random interleavings never give a caller another one's reply") {
    CHECK(rc::check([] {
        driver d;
        d.make_ready();
        std::string unanswered, inbound;
        std::size_t consumed = 0;
        std::map<std::uint64_t, slot_id> open;
        std::uint64_t token = 0;
        const int moves = *rc::gen::inRange(10, 120);
        for (int i = 0; i < moves && !d.closed; ++i) {
            switch (*rc::gen::inRange(0, 5)) {
                case 0: {
                    ++token;
                    if (const auto id = d.get(token)) {
                        open[token] = *id;
                    }
                    break;
                }
                case 1:
                    if (!open.empty()) {
                        const auto at = std::next(open.begin(), *rc::gen::inRange(0, static_cast<int>(open.size())));
                        d.machine.detach(at->second);
                        open.erase(at);
                    }
                    break;
                case 2:
                    d.flush();
                    break;
                default: {
                    // Redis sees all written bytes and answers each complete GET.
                    for (std::size_t at; (at = d.output.find("\r\nk", consumed)) != std::string::npos &&
                                         d.output.find("\r\n", at + 3) != std::string::npos;) {
                        const std::size_t end = d.output.find("\r\n", at + 3);
                        const std::string n = d.output.substr(at + 3, end - at - 3);
                        inbound += "$" + std::to_string(n.size()) + "\r\n" + n + "\r\n";
                        consumed = end;
                    }
                    if (d.reading && !inbound.empty()) {
                        const auto size = *rc::gen::inRange<std::size_t>(1, inbound.size() + 1);
                        const std::string part = inbound.substr(0, size);
                        inbound.erase(0, size);
                        d.answer(part);
                    }
                }
            }
        }
        RC_ASSERT_FALSE(d.closed);
        for (const auto& [t, r] : d.results) {
            RC_ASSERT(r.why == fault::none);
            RC_ASSERT(r.value.text == std::to_string(t));
        }
    }));
}
