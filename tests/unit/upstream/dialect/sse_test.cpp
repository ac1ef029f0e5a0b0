#include "upstream/dialect/sse.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

using namespace idem::upstream::dialect;

namespace {

struct seen {
    std::string type;
    std::string data;
    std::string id;
    std::uint64_t offset;
    std::uint64_t size;
    bool operator==(const seen&) const = default;
};

struct transcript {
    std::vector<seen> events;
    std::uint64_t boundary = 0;
    bool unfinished = false;
    bool overflow = false;
    bool operator==(const transcript&) const = default;
};

// Feeds `stream` cut at the given offsets.
transcript run(std::string_view stream, const std::vector<std::size_t>& cuts = {}) {
    sse_splitter splitter;
    transcript out;
    const auto note = [&] {
        const sse_event& e = splitter.event();
        out.events.push_back(
            {std::string(e.type), std::string(e.data), std::string(e.id), e.where.offset, e.where.size});
    };
    std::size_t from = 0;
    const auto feed = [&](std::string_view piece) {
        const std::string copy(piece);  // its own allocation, so that a sanitizer sees reads beyond it
        std::string_view in = copy;
        for (;;) {
            const sse_step step = splitter.next(in);
            if (step == sse_step::overflow) out.overflow = true;
            if (step != sse_step::event) return;
            note();
        }
    };
    for (const std::size_t cut : cuts) {
        feed(stream.substr(from, cut - from));
        from = cut;
    }
    feed(stream.substr(from));
    out.unfinished = splitter.unfinished();
    if (splitter.finish() == sse_step::event) note();
    out.boundary = splitter.boundary();
    return out;
}

std::vector<std::string> data_of(std::string_view stream) {
    std::vector<std::string> out;
    for (const seen& e : run(stream).events) out.push_back(e.data);
    return out;
}

using strings = std::vector<std::string>;

}  // namespace

// The behaviours of the web-platform-tests in eventsource/, in our own words.
TEST_CASE("one leading BOM is skipped, a second one is part of the field name") {
    CHECK(data_of("\xEF\xBB\xBF"
                  "data:1\n\n\xEF\xBB\xBF"
                  "data:2\n\ndata:3\n\n") == strings{"1", "3"});
    CHECK(data_of("\xEF\xBB\xBF\xEF\xBB\xBF"
                  "data:1\n\ndata:2\n\ndata:3\n\n") == strings{"2", "3"});
}

TEST_CASE("comments are skipped wherever they stand") {
    const std::string long_comment(2048, 'x');
    using namespace std::string_literals;
    CHECK(data_of("data:1\r:\0\n:\r\ndata:2\n:"s + long_comment + "\rdata:3\n:data:fail\r:" + long_comment +
                  "\ndata:4\n\n") == strings{"1\n2\n3\n4"});
}

TEST_CASE("an event without its blank line is not delivered") {
    const transcript t = run("retry:1000\ndata:test1\n\nid:test\ndata:test2");
    REQUIRE(t.events.size() == 1);
    CHECK(t.events[0].data == "test1");
    CHECK(t.unfinished);
    CHECK(t.boundary == std::string_view("retry:1000\ndata:test1\n\n").size());
}

TEST_CASE("data: empty, doubled, with and without colon and space") {
    CHECK(data_of("data:\n\ndata\ndata\n\ndata:test\n\n") == strings{"", "\n", "test"});
    CHECK(data_of("data: a\n\ndata:a\n\ndata:  a\n\ndata :a\n\n") == strings{"a", "a", " a"});
    CHECK(data_of("Data:a\n\ndatas:a\n\n data:a\n\n") == strings{});
}

TEST_CASE("event names the type of one event only") {
    const transcript t = run("event:test\ndata:x\n\ndata:x\n\nevent: \ndata:x\n\nevent:lost\n\ndata:y\n\n");
    REQUIRE(t.events.size() == 4);
    CHECK(t.events[0].type == "test");
    CHECK(t.events[1].type == "message");
    CHECK(t.events[2].type == "message");
    CHECK(t.events[3].type == "message");
}

TEST_CASE("id stays until it is set anew, and one with NUL is ignored") {
    using namespace std::string_view_literals;
    const transcript t = run("id:a\ndata:1\n\ndata:2\n\nid:\ndata:3\n\nid:b\n\ndata:4\n\nid:c\0d\ndata:5\n\n"sv);
    REQUIRE(t.events.size() == 5);
    CHECK(t.events[0].id == "a");
    CHECK(t.events[1].id == "a");
    CHECK(t.events[2].id.empty());
    CHECK(t.events[3].id == "b");
    CHECK(t.events[4].id == "b");
}

TEST_CASE("retry takes digits only") {
    const auto retry = [](std::string_view stream) {
        sse_splitter s;
        while (s.next(stream) == sse_step::event) continue;
        return s.retry();
    };
    CHECK(retry("retry:03000\ndata:x\n\n") == 3000);
    CHECK(retry("retry:3000\nretry:1000x\ndata:x\n\n") == 3000);
    CHECK(retry("retry:-1\nretry:\nretry:1e3\ndata:x\n\n") == std::nullopt);
}

TEST_CASE("NUL in data and UTF-8 pass through") {
    using namespace std::string_view_literals;
    CHECK(data_of("data:\0\n\n\n\ndata:ok\xE2\x80\xA6\n\n"sv) == strings{std::string("\0", 1), "ok\xE2\x80\xA6"});
}

TEST_CASE("line ends: LF, CR, CRLF and mixtures") {
    CHECK(data_of("data:1\r\n\r\ndata:2\r\rdata:3\n\ndata:4\r\n\ndata:5\n\r\ndata:6\n\r") ==
          strings{"1", "2", "3", "4", "5", "6"});
}

TEST_CASE("ranges cover the stream without gaps, CRLF included") {
    const std::string stream = ": hello\r\n\r\ndata:1\r\n\r\n: ping\n\ndata:2\r\rdata:3\n\n";
    const transcript t = run(stream);
    REQUIRE(t.events.size() == 3);
    CHECK(stream.substr(t.events[0].offset, t.events[0].size) == "data:1\r\n\r\n");
    CHECK(stream.substr(t.events[1].offset, t.events[1].size) == "data:2\r\r");
    CHECK(stream.substr(t.events[2].offset, t.events[2].size) == "data:3\n\n");
    CHECK(t.boundary == stream.size());
    CHECK_FALSE(t.unfinished);
}

TEST_CASE("a line of the cap passes and one byte more is refused, whole or in pieces") {
    const std::string good = "data:" + std::string(sse_splitter::max_line - 5, 'x') + "\n\n";
    const std::string bad = "data:" + std::string(sse_splitter::max_line - 4, 'x') + "\n\n";
    for (const std::vector<std::size_t>& cuts : {std::vector<std::size_t>{}, {1, 1000, sse_splitter::max_line}}) {
        CHECK(run(good, cuts).events.size() == 1);
        CHECK(run(bad, cuts).overflow);
        CHECK(run(bad, cuts).events.empty());
    }
}

TEST_CASE("an event above the cap is refused") {
    const std::string line = "data:" + std::string(sse_splitter::max_line - 5, 'x') + "\n";
    std::string stream;
    for (int i = 0; i < 5; ++i) stream += line;
    stream += "\ndata:1\n\n";
    const transcript t = run(stream);
    CHECK(t.overflow);
    CHECK(t.events.empty());
}

TEST_CASE("splitting a stream anywhere changes nothing") {
    const std::string stream =
        "\xEF\xBB\xBF: c\r\n\r\nevent: a\r\nid: 7\r\ndata: {\"x\":\"\xF0\x9F\x98\x80\"}\r\n\r\n"
        "data:1\ndata: 2\n\n\r\rdata\r\rretry: 10\n:\n\ndata: [DONE]\r\n\r\ndata: rest";
    const transcript whole = run(stream);
    CHECK(whole.events.size() == 4);
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) CHECK(run(stream, {cut}) == whole);
    std::vector<std::size_t> every;
    for (std::size_t i = 1; i < stream.size(); ++i) every.push_back(i);
    CHECK(run(stream, every) == whole);
}

TEST_CASE("property: two random cuts of a random stream change nothing") {
    CHECK(rc::check([] {
        const auto tokens = *rc::gen::container<std::vector<std::string>>(
            rc::gen::elementOf(std::vector<std::string>{"data", ":", " ", "\n", "\r", "\r\n", "event", "id", "x",
                                                        "\xEF\xBB\xBF", "\n\n", "data: y\n\n", "retry:1"}));
        std::string stream;
        for (const std::string& token : tokens) stream += token;
        auto a = *rc::gen::inRange<std::size_t>(0, stream.size() + 1);
        auto b = *rc::gen::inRange<std::size_t>(0, stream.size() + 1);
        if (a > b) std::swap(a, b);
        RC_ASSERT(run(stream, {a, b}) == run(stream));
    }));
}
