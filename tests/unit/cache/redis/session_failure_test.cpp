#include "cache/redis/session.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <functional>
#include <map>
#include <vector>

#include "tests/unit/cache/redis/session_driver.hpp"

using namespace idem::cache::redis;
using namespace idem::cache::redis::test;

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
