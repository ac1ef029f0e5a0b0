#include "cache/redis/reply.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>

using namespace idem::cache::redis;

namespace {

struct outcome {
    std::vector<reply> replies;
    fault error = fault::none;
};

outcome parse(std::string_view bytes, std::size_t step, reply_limits limits = {}) {
    reply_parser parser(limits);
    outcome o;
    while (!bytes.empty() && parser.error() == fault::none) {
        parser.feed(bytes.substr(0, step));
        bytes.remove_prefix(std::min(step, bytes.size()));
        while (auto r = parser.next()) {
            o.replies.push_back(std::move(*r));
        }
    }
    o.error = parser.error();
    return o;
}

std::string show(const reply& r) {
    switch (r.type) {
        case reply_type::nil:
            return "nil";
        case reply_type::string:
            return "$" + r.text;
        case reply_type::status:
            return "+" + r.text;
        case reply_type::error:
            return "-" + r.text;
        case reply_type::integer:
            return ":" + std::to_string(r.integer);
        case reply_type::array:
            break;
    }
    std::string text = "[";
    for (const reply& e : r.elements) {
        text += show(e) + " ";
    }
    return text + "]";
}

std::string show(const outcome& o) {
    std::string text;
    for (const reply& r : o.replies) {
        text += show(r) + "\n";
    }
    return text + std::string(to_string(o.error));
}

}  // namespace

TEST_CASE("each RESP2 type is read, however the bytes are cut") {
    for (std::size_t step = 1; step < 40; ++step) {
        CAPTURE(step);
        const outcome o = parse(
            "+OK\r\n-ERR no\r\n:-42\r\n$3\r\na\r\n\r\n$-1\r\n$0\r\n\r\n*-1\r\n*0\r\n*3\r\n:1\r\n*2\r\n$1\r\nx\r\n"
            "*1\r\n+y\r\n$-1\r\n:7\r\n",
            step);
        CHECK(show(o) == "+OK\n-ERR no\n:-42\n$a\r\n\nnil\n$\nnil\n[]\n[:1 [$x [+y ] ] nil ]\n:7\n");
    }
}

TEST_CASE("a value may hold any bytes") {
    const std::string value("\0\r\n$5\r\n*\xff", 9);
    const outcome o = parse("$9\r\n" + value + "\r\n", 3);
    REQUIRE(o.replies.size() == 1);
    CHECK(o.replies[0].text == value);
}

TEST_CASE("what is not RESP2 is refused for ever") {
    for (const std::string_view bytes :
         {"hello\r\n", ">2\r\n+push\r\n+x\r\n", "%1\r\n+a\r\n+b\r\n", "_\r\n", "#t\r\n", "HTTP/1.1 400 Bad Request\r\n",
          ":12x\r\n", "$-2\r\n", "*-2\r\n", "*99999999999\r\n", "$1\r\nxyz\r\n"}) {
        CAPTURE(bytes);
        reply_parser parser({});
        parser.feed(bytes);
        while (parser.next()) {
        }
        if (bytes !=
            "$1\r\nxyz\r\n") {  // redisReader skips the two bytes after a value unread; what follows is refused
            CHECK(parser.error() != fault::none);
        }
        parser.feed("+OK\r\n");
        CHECK_FALSE(parser.next());
        CHECK(parser.error() == fault::malformed);
    }
}

TEST_CASE("announced sizes cost nothing until the bytes come") {
    CHECK(parse("*2147483647\r\n", 64).error == fault::reply_too_large);
    CHECK(parse("*4096\r\n*1\r\n", 64).error == fault::reply_too_large);
    CHECK(parse("*4096\r\n", 64).error == fault::none);
    CHECK(parse("$629145600\r\n", 64).error == fault::none);  // waits: the deadline or the byte cap ends it
    const reply_limits small{.bytes = 1000, .elements = 8};
    CHECK(parse("$629145600\r\n" + std::string(2000, 'x'), 64, small).error == fault::reply_too_large);
    CHECK(parse("+" + std::string(2000, 'x'), 64, small).error == fault::reply_too_large);
    CHECK(parse("+" + std::string(20'000, 'x'), 64).error == fault::reply_too_large);
    CHECK(parse("+" + std::string(16'000, 'x') + "\r\n", 64).replies.size() == 1);
    CHECK(parse("$" + std::string(40, '1'), 64).error == fault::reply_too_large);
    CHECK(parse(":" + std::string(20'000, '1'), 64).error == fault::reply_too_large);
    CHECK(parse("*8\r\n" + std::string(9, '*') + "1\r\n", 64, small).error != fault::none);
}

TEST_CASE("the byte cap counts from the last reply, not from the connection's start") {
    const reply_limits small{.bytes = 100, .elements = 8};
    std::string many;
    for (int i = 0; i < 100; ++i) {
        many += "$50\r\n" + std::string(50, 'x') + "\r\n";
    }
    for (const std::size_t step : {1u, 7u, 64u, 1024u}) {
        const outcome o = parse(many, step, small);
        CHECK(o.error == fault::none);
        CHECK(o.replies.size() == 100);
    }
    CHECK(parse("$200\r\n" + std::string(200, 'x') + "\r\n", 1024, small).error == fault::reply_too_large);
}

TEST_CASE("deep nesting is refused") {
    std::string deep;
    for (int i = 0; i < 12; ++i) {
        deep += "*1\r\n";
    }
    CHECK(parse(deep + ":1\r\n", 64).error == fault::malformed);
}

TEST_CASE("any bytes: no crash, and the cut does not matter") {
    CHECK(rc::check([](const std::string& noise) {
        const std::string bytes = "*2\r\n$3\r\nabc\r\n" + noise;
        const std::string whole = show(parse(bytes, bytes.size()));
        const auto step = *rc::gen::inRange<std::size_t>(1, 9);
        RC_ASSERT(show(parse(bytes, step)) == whole);
    }));
}
