#include "upstream/dialect/lines.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace idem::upstream::dialect;

namespace {

struct seen {
    std::vector<std::string> lines;
    std::vector<std::uint64_t> boundaries;
    bool overflow = false;
};

void take(line_splitter& s, std::string_view in, seen& out) {
    for (;;) {
        const line_step step = s.next(in);
        if (step == line_step::overflow) out.overflow = true;
        if (step != line_step::line) return;
        out.lines.emplace_back(s.line());
        out.boundaries.push_back(s.boundary());
    }
}

seen split(std::string_view stream, std::size_t piece) {
    line_splitter s;
    seen out;
    for (std::size_t at = 0; at < stream.size(); at += piece) take(s, stream.substr(at, piece), out);
    if (s.finish() == line_step::line) out.lines.emplace_back(s.line());
    return out;
}

}  // namespace

TEST_CASE("lines end in LF or CRLF, empty ones are skipped, the last needs no end") {
    const std::string stream = "{\"a\":1}\n\r\n  \n{\"b\":\"é東🙂\"}\r\nlast";
    for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
        CAPTURE(piece);
        const seen s = split(stream, piece);
        REQUIRE(s.lines.size() == 3);
        CHECK(s.lines[0] == "{\"a\":1}");
        CHECK(s.lines[1] == "{\"b\":\"é東🙂\"}\r");
        CHECK(s.lines[2] == "last");
        CHECK(s.boundaries == std::vector<std::uint64_t>{8, stream.size() - 4});
    }
    CHECK(split("", 1).lines.empty());
    CHECK(split("\n\n", 1).lines.empty());
}

TEST_CASE("a line above the cap ends everything") {
    line_splitter s;
    seen out;
    const std::string most(line_splitter::max_line, 'x');
    take(s, most + "\n", out);
    CHECK(out.lines.size() == 1);
    CHECK_FALSE(out.overflow);
    take(s, most, out);
    take(s, "x", out);
    CHECK(out.overflow);
    take(s, "\n{}\n", out);
    CHECK(out.lines.size() == 1);
    CHECK(s.finish() == line_step::overflow);
}
