#include "upstream/net/address_memory.hpp"

#include <doctest/doctest.h>

using namespace idem::upstream::net;
using namespace std::chrono_literals;

namespace {

const address_memory::time_point start{1000h};

resolution good(const char* address) {
    return {{boost::asio::ip::make_address(address)}, {}};
}

resolution bad() {
    return {{}, "away"};
}

std::string first(const address_memory& m) {
    return m.answer().addresses.empty() ? m.answer().error : m.answer().addresses[0].to_string();
}

}  // namespace

TEST_CASE("addresses are asked for again after five seconds, a failure after one") {
    address_memory m{{}};
    CHECK(m.due(start));
    m.learn(good("10.0.0.1"), start);
    CHECK_FALSE(m.due(start + 4999ms));
    CHECK(m.due(start + 5s));
    m.learn(good("10.0.0.2"), start + 5s);
    CHECK(first(m) == "10.0.0.2");
    m.learn(bad(), start + 10s);
    CHECK_FALSE(m.due(start + 10999ms));
    CHECK(m.due(start + 11s));
}

TEST_CASE("the last good addresses outlive failing look-ups by five minutes") {
    address_memory m{{}};
    m.learn(good("10.0.0.1"), start);
    for (auto at = 5s; at <= 300s; at += 5s) {
        m.learn(bad(), start + at);
        CHECK(first(m) == "10.0.0.1");
    }
    SUBCASE("and then the failure is told") {
        m.learn(bad(), start + 301s);
        CHECK(first(m) == "away");
    }
    SUBCASE("counted anew from each good answer") {
        m.learn(good("10.0.0.1"), start + 301s);
        m.learn(bad(), start + 601s);
        CHECK(first(m) == "10.0.0.1");
        m.learn(bad(), start + 602s);
        CHECK(first(m) == "away");
    }
}

TEST_CASE("a name that never had an address tells its latest failure") {
    address_memory m{{}};
    m.learn({{}, "no such name"}, start);
    CHECK(first(m) == "no such name");
    m.learn(bad(), start + 1s);
    CHECK(first(m) == "away");
    m.learn(good("::1"), start + 2s);
    CHECK(first(m) == "::1");
}

TEST_CASE("an address that could be connected to comes first as long as the name has it") {
    const auto ip = [](const char* text) { return boost::asio::ip::make_address(text); };
    const auto three = [&] { return resolution{{ip("10.0.0.1"), ip("10.0.0.2"), ip("10.0.0.3")}, {}}; };
    address_memory m{{}};
    m.learn(three(), start);
    m.prefer(ip("10.0.0.3"));
    CHECK(m.answer().addresses == std::vector{ip("10.0.0.3"), ip("10.0.0.1"), ip("10.0.0.2")});
    m.learn(three(), start + 5s);
    CHECK(first(m) == "10.0.0.3");
    m.learn(good("10.0.0.9"), start + 10s);
    CHECK(first(m) == "10.0.0.9");
    m.prefer(ip("10.0.0.8"));
    CHECK(first(m) == "10.0.0.9");
}
