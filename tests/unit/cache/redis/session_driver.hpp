#pragma once
// A Redis session driven the way its shell drives it, without a socket.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/redis/session.hpp"

namespace idem::cache::redis::test {

using namespace std::chrono_literals;

inline constexpr std::string_view first_ping = "*2\r\n$4\r\nPING\r\n$1\r\n7\r\n";
inline constexpr std::string_view first_pong = "$1\r\n7\r\n";

inline session_settings plain_settings() {
    session_settings s;
    s.name.clear();
    return s;
}

/// Remembers what the session told it.
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

}  // namespace idem::cache::redis::test
