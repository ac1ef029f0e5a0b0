#include "upstream/client/connection.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace idem::upstream;
using namespace idem::upstream::client;

TEST_CASE("the room of a connection moves, grows to its cap, and keeps what is unread") {
    net::read_buffer b{small_read};
    std::string expected;
    const auto put = [&](std::size_t n) {
        const auto room = room_in(b);
        REQUIRE(room.size() >= n);
        for (std::size_t i = 0; i < n; ++i) static_cast<char*>(room.data())[i] = static_cast<char>('a' + i % 26);
        b.commit(n);
        expected.append(static_cast<char*>(room.data()), n);
        CHECK(b.view() == expected);
    };
    CHECK(b.empty());
    CHECK(room_in(b).size() == small_read);
    put(100);
    b.consume(40);
    expected.erase(0, 40);
    put(small_read - 100);
    put(40);  // grew, since the last read filled it
    CHECK(b.size() == small_read);
    put(large_read - small_read);
    CHECK(room_in(b).size() == 0);  // full at the cap
    b.consume(10);
    expected.erase(0, 10);
    put(10);
    b.clear();
    CHECK(room_in(b).size() == small_read);
}
