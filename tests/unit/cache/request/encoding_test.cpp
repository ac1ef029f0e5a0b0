#include "cache/request/encoding.hpp"

#include <doctest/doctest.h>
#include <zlib.h>
#include <zstd.h>

#include <string>

using namespace idem;
using cache::decode_body;

namespace {

constexpr std::size_t cap = 64 << 20;

std::string gzip(std::string_view text) {
    z_stream z{};
    REQUIRE(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string out(deflateBound(&z, text.size()) + 32, '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    z.avail_in = static_cast<uInt>(text.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
    out.resize(z.total_out);
    deflateEnd(&z);
    return out;
}

std::string zstd(std::string_view text) {
    std::string out(ZSTD_compressBound(text.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
    return out;
}

// The decoded text, or the reason in angle brackets.
std::string plain(std::string_view coding, std::string_view body, std::size_t limit = cap) {
    std::string scratch = "what an earlier call left here";
    const cache::plain_body result = decode_body(coding, body, limit, scratch);
    if (result.why != reason::none) return "<" + std::string(to_string(result.why)) + ">";
    return std::string(result.text);
}

std::string varied(std::size_t size) {
    std::string s;
    for (unsigned i = 0; s.size() < size; ++i) s += std::to_string(i * 2654435761u);
    s.resize(size);
    return s;
}

}  // namespace

TEST_CASE("a body without coding is itself") {
    std::string scratch;
    const std::string body = "{}";
    CHECK(decode_body("", body, cap, scratch).text.data() == body.data());
    CHECK(decode_body("identity", body, cap, scratch).text.data() == body.data());
}

TEST_CASE("gzip and zstd are undone") {
    for (std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{600}, std::size_t{1000}, std::size_t{3'000'000}}) {
        const std::string text = varied(size);
        CHECK(plain("gzip", gzip(text)) == text);
        CHECK(plain("X-GZip", gzip(text)) == text);
        CHECK(plain("ZSTD", zstd(text)) == text);
    }
    CHECK(plain("gzip", gzip("one ") + gzip("two")) == "one two");
    CHECK(plain("zstd", zstd("one ") + zstd("two")) == "one two");
}

TEST_CASE("other codings, several at once, and broken bodies are refused") {
    const std::string text = varied(1000);
    for (const char* coding : {"br", "deflate", "gzip, gzip", "gzip,zstd", "compress", "*"}) {
        CHECK(plain(coding, gzip(text)) == "<body_encoding>");
    }
    CHECK(plain("gzip", text) == "<body_encoding>");
    CHECK(plain("gzip", "") == "<body_encoding>");
    CHECK(plain("zstd", text) == "<body_encoding>");
    CHECK(plain("gzip", zstd(text)) == "<body_encoding>");
    CHECK(plain("gzip", gzip(text) + "x") == "<body_encoding>");
    CHECK(plain("zstd", zstd(text) + "x") == "<body_encoding>");
}

TEST_CASE("a body cut anywhere is refused") {
    const std::string text = varied(300);
    const std::string g = gzip(text), z = zstd(text);
    for (std::size_t i = 0; i < g.size(); ++i) CHECK(plain("gzip", g.substr(0, i)) == "<body_encoding>");
    for (std::size_t i = 1; i < z.size(); ++i) CHECK(plain("zstd", z.substr(0, i)) == "<body_encoding>");
}

TEST_CASE("a flipped bit is noticed") {
    std::string g = gzip(varied(300));
    g[g.size() / 2] = static_cast<char>(g[g.size() / 2] ^ 4);
    CHECK(plain("gzip", g) == "<body_encoding>");
}

TEST_CASE("growth is bounded by the cap and by the ratio") {
    const std::string text = varied(100'000);
    CHECK(plain("gzip", gzip(text), text.size()) == text);
    CHECK(plain("zstd", zstd(text), text.size()) == text);
    CHECK(plain("gzip", gzip(text), text.size() - 1) == "<body_encoding>");
    CHECK(plain("zstd", zstd(text), text.size() - 1) == "<body_encoding>");

    const std::string zeros(10'000'000, '0');
    for (const auto& [coding, bomb] : {std::pair{"gzip", gzip(zeros)}, std::pair{"zstd", zstd(zeros)}}) {
        REQUIRE(bomb.size() * cache::expansion_ratio < zeros.size());
        std::string scratch;
        CHECK(decode_body(coding, bomb, cap, scratch).why == reason::body_encoding);
        CHECK(scratch.size() <= std::max(cache::expansion_floor, bomb.size() * cache::expansion_ratio));
    }
    // Short bodies may be repetitive.
    CHECK(plain("gzip", gzip(std::string(10'000, 'a'))) == std::string(10'000, 'a'));
}
