#include <doctest/doctest.h>

#include <cstring>

#include "upstream/net/gather.hpp"
#include "upstream/net/read_buffer.hpp"

using namespace idem::upstream::net;

namespace {

constexpr std::size_t idle = 8 * 1024;

void put(read_buffer& b, std::string_view bytes) {
    const auto space = b.prepare(bytes.size());
    std::memcpy(space.data(), bytes.data(), bytes.size());
    b.commit(bytes.size());
}

std::string text(const gather& g) {
    std::string out;
    for (const auto& piece : g.pieces()) out.append(static_cast<const char*>(piece.data()), piece.size());
    return out;
}

}  // namespace

TEST_CASE("a read buffer keeps unread bytes while it moves, grows and shrinks") {
    read_buffer b{idle};
    CHECK(b.prepare(1).size() == idle);
    put(b, std::string(8000, 'a') + "tail");
    b.consume(8000);
    put(b, std::string(1000, 'b'));
    CHECK(b.capacity() == idle);
    CHECK(b.view() == "tail" + std::string(1000, 'b'));
    put(b, std::string(100000, 'c'));
    CHECK(b.size() == 101004);
    b.shrink();
    CHECK(b.capacity() > idle);
    b.consume(101000);
    b.shrink();
    CHECK(b.capacity() == idle);
    CHECK(b.view() == "cccc");
}

TEST_CASE("an empty read buffer starts at its front again") {
    read_buffer b{idle};
    put(b, "abc");
    b.consume(3);
    CHECK(b.prepare(1).size() == idle);
}

TEST_CASE("a read buffer says when a read took all the room, and lets go of a large block") {
    read_buffer b{idle};
    put(b, "abc");
    CHECK_FALSE(b.filled());
    put(b, std::string(b.prepare(1).size(), 'd'));
    CHECK(b.filled());
    put(b, "e");
    CHECK(b.capacity() > idle);
    b.clear();
    CHECK(b.empty());
    CHECK(b.capacity() == 0);
    CHECK_FALSE(b.filled());
    put(b, "f");
    b.clear();
    CHECK(b.capacity() == idle);
}

TEST_CASE("gather leaves out empty pieces and is consumed from the front") {
    gather g{"ab", ""};
    g.add("");
    g.add("cde");
    CHECK(text(g) == "abcde");
    CHECK(text(g.front(3)) == "abc");
    CHECK(text(g.front(99)) == "abcde");
    g.consume(3);
    CHECK(text(g) == "de");
    CHECK_FALSE(g.empty());
    g.consume(2);
    CHECK(g.empty());
}
