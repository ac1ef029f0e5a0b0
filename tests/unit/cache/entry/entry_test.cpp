#include "cache/entry/entry.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <xxhash.h>
#include <zstd.h>

#include <cstring>
#include <fstream>

#include "cache/entry/layout.hpp"
#include "tests/support/sample_entry.hpp"

using namespace idem;
using namespace idem::cache;
using idem::test::same;
using idem::test::sample_entry;
using idem::test::sample_key;

namespace {

constexpr std::size_t cap = 4 << 20;

void set(std::string& blob, std::size_t at, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) blob[at + i] = static_cast<char>(value >> (8 * i));
}

// What an attacker, or a bug of ours, would do: the checksum is right, the content is not.
std::string resealed(std::string blob) {
    const std::size_t covered = blob.size() - layout::checksum_size;
    set(blob, covered, XXH3_64bits(blob.data(), covered), 8);
    return blob;
}

std::string json(std::size_t size) {
    std::string text;
    while (text.size() < size) text += "{\"index\":" + std::to_string(text.size()) + ",\"text\":\"the same again\"},";
    text.resize(size);
    return text;
}

entry arbitrary_entry() {
    entry e = sample_entry(*rc::gen::arbitrary<std::string>());
    for (auto* text :
         {&e.dialect, &e.model, &e.upstream, &e.replica, &e.route, &e.scope_tag, &e.content_type, &e.origin_request_id})
        *text = *rc::gen::arbitrary<std::string>();
    e.tags = *rc::gen::arbitrary<std::vector<std::string>>();
    e.headers = *rc::gen::arbitrary<std::vector<std::pair<std::string, std::string>>>();
    e.form = static_cast<upstream::dialect::form>(*rc::gen::inRange(0, 4));
    e.length_limited = *rc::gen::arbitrary<bool>();
    e.created = *rc::gen::arbitrary<std::int64_t>();
    e.fresh_until = *rc::gen::arbitrary<std::int64_t>();
    e.keep_until = *rc::gen::arbitrary<std::int64_t>();
    e.upstream_ms = *rc::gen::arbitrary<std::uint32_t>();
    e.body = *rc::gen::arbitrary<std::string>();
    if (*rc::gen::arbitrary<bool>()) e.body = json(*rc::gen::inRange<std::size_t>(0, 5000)) + e.body;
    e.tokens.reset();
    e.usage_event.reset();
    if (*rc::gen::arbitrary<bool>()) e.tokens = {*rc::gen::arbitrary<std::uint64_t>(), 7};
    if (*rc::gen::arbitrary<bool>()) {
        const auto offset = *rc::gen::inRange<std::uint64_t>(0, e.body.size() + 1);
        e.usage_event = {offset, *rc::gen::inRange<std::uint64_t>(0, e.body.size() - offset + 1)};
    }
    return e;
}

std::string golden_hex(const std::string& name) {
    std::ifstream file(IDEM_SOURCE_DIR "/tests/golden/" + name);
    std::string hex;
    for (std::string line; std::getline(file, line);) hex += line;
    return hex;
}

std::string from_hex(const std::string& hex) {
    std::string out;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return out;
}

}  // namespace

TEST_CASE("what is encoded is decoded, with and without compression") {
    CHECK(rc::check([] {
        const entry e = arbitrary_entry();
        for (const auto c : {compression::none, compression::zstd}) {
            const std::string blob = encode(e, c);
            const decoded d = decode(blob, e.key, cap);
            RC_ASSERT(d.why == reason::none);
            RC_ASSERT(same(*d.value, e));
        }
    }));
}

TEST_CASE("the fixed head is readable on its own") {
    const entry e = sample_entry("k");
    const auto head = decode_head(encode(e, compression::zstd));
    REQUIRE(head);
    CHECK(head->format == entry_format);
    CHECK(head->key == e.key);
    CHECK(head->fill == e.fill);
    CHECK(head->ban == e.ban);
    CHECK(head->created == e.created);
    CHECK(head->fresh_until == e.fresh_until);
    CHECK(head->keep_until == e.keep_until);
    CHECK_FALSE(decode_head(""));
    CHECK_FALSE(decode_head(std::string(200, '\0')));
}

// What builds have written: stores hold such entries for a year.
TEST_CASE("the layout of format 2 does not move") {
    const std::string golden = golden_hex("entry-2.hex");
    const entry e = sample_entry("golden");
    const std::string blob = encode(e, compression::none);
    CHECK(to_hex({reinterpret_cast<const std::uint8_t*>(blob.data()), blob.size()}) == golden);
    const decoded d = decode(blob, e.key, cap);
    REQUIRE(d.value);
    CHECK(same(*d.value, e));
}

TEST_CASE("an entry of format 1 is read, and guarantees nothing") {
    entry e = sample_entry("golden");
    e.promise = {};
    const decoded d = decode(from_hex(golden_hex("entry-1.hex")), e.key, cap);
    REQUIRE(d.value);
    CHECK(same(*d.value, e));
}

TEST_CASE("a guarantee of unknown words is damage") {
    const entry e = sample_entry("golden", "body");
    const std::string good = encode(e, compression::none);
    const std::size_t level_at = good.size() - 8 - e.body.size() - 6;
    for (const std::size_t at : {level_at, level_at + 1}) {
        std::string bad = good;
        bad[at] = 3;
        const std::uint64_t sum = XXH3_64bits(bad.data(), bad.size() - 8);
        for (std::size_t i = 0; i < 8; ++i) bad[bad.size() - 8 + i] = static_cast<char>(sum >> (8 * i) & 0xff);
        CHECK(decode(bad, e.key, cap).why == reason::entry_corrupt);
    }
}

TEST_CASE("a long repetitive body is compressed, a short or random one is not") {
    entry e = sample_entry("k", json(5000));
    CHECK(encode(e, compression::zstd).size() < 3000);
    CHECK(encode(e, compression::none).size() > 5000);
    e = sample_entry("k", json(400));
    CHECK(encode(e, compression::zstd).size() == encode(e, compression::none).size());
    std::string noise;
    for (int i = 0; i < 100; ++i) noise += view(sha256(std::to_string(i)));
    e = sample_entry("k", noise);
    CHECK(encode(e, compression::zstd).size() == encode(e, compression::none).size());
}

TEST_CASE("every single flipped bit and every truncation is refused") {
    const entry e = sample_entry("k", json(700));
    const std::string blob = encode(e, compression::zstd);
    for (std::size_t bit = 0; bit < blob.size() * 8; ++bit) {
        std::string broken = blob;
        broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ (1 << (bit % 8)));
        const decoded d = decode(broken, e.key, cap);
        REQUIRE(d.value == nullptr);
        // A flip inside the format number may look like a newer format: left alone rather than replaced.
        const bool in_format = bit / 8 == layout::at_format || bit / 8 == layout::at_format + 1;
        REQUIRE((d.why == reason::entry_corrupt || (in_format && d.why == reason::entry_unreadable)));
    }
    for (std::size_t size = 0; size < blob.size(); ++size)
        REQUIRE(decode(std::string_view(blob).substr(0, size), e.key, cap).why == reason::entry_corrupt);
    CHECK(decode(blob + '\0', e.key, cap).why == reason::entry_corrupt);
}

TEST_CASE("another key, in full, is not this key") {
    const entry e = sample_entry("k");
    const std::string blob = encode(e, compression::none);
    cache_key other = e.key;
    other.value.bytes[31] ^= 1;
    CHECK(decode(blob, other, cap).why == reason::entry_corrupt);
}

TEST_CASE("a newer format and an unknown flag are left alone") {
    const entry e = sample_entry("k");
    std::string blob = encode(e, compression::none);
    set(blob, layout::at_format, entry_format + 1, 2);
    CHECK(decode(blob, e.key, cap).why == reason::entry_unreadable);
    blob.resize(layout::stable_size);
    CHECK(decode(blob, e.key, cap).why == reason::entry_unreadable);
    blob = encode(e, compression::none);
    set(blob, layout::at_flags, 2, 2);
    CHECK(decode(resealed(blob), e.key, cap).why == reason::entry_unreadable);
}

TEST_CASE("a body above the cap is not allocated") {
    const entry e = sample_entry("k", json(5000));
    for (const auto c : {compression::none, compression::zstd}) {
        CHECK(decode(encode(e, c), e.key, 4999).why == reason::entry_unreadable);
        CHECK(decode(encode(e, c), e.key, 5000).why == reason::none);
    }
}

TEST_CASE("lengths that lie under a right checksum are refused") {
    const entry e = sample_entry("k", json(5000));
    for (const auto c : {compression::none, compression::zstd}) {
        const std::string blob = encode(e, c);
        for (const std::uint64_t lie : {0ull, 1ull, 4999ull, 5001ull, 0xffffffffull, ~0ull}) {
            for (const auto& [at, size] : {std::pair{layout::at_head_size, 4},
                                           {layout::at_stored_size, 8},
                                           {layout::at_body_size, 8},
                                           {layout::at_zero, 4}}) {
                if (at == layout::at_zero && lie == 0) continue;
                std::string broken = blob;
                set(broken, at, lie, static_cast<std::size_t>(size));
                REQUIRE(decode(resealed(broken), e.key, cap).value == nullptr);
            }
        }
    }
}

TEST_CASE("a frame that decodes to more than it says is refused") {
    const entry e = sample_entry("k", json(5000));
    std::string blob = encode(e, compression::zstd);
    // Two frames in a row; the second would be written behind the end of the first.
    std::string second(ZSTD_compressBound(1 << 16), '\0');
    const std::string zeros(1 << 16, '\0');
    second.resize(ZSTD_compress(second.data(), second.size(), zeros.data(), zeros.size(), 1));
    blob.insert(blob.size() - 8, second);
    std::uint64_t stored = 0;
    std::memcpy(&stored, blob.data() + layout::at_stored_size, 8);
    set(blob, layout::at_stored_size, stored + second.size(), 8);
    CHECK(decode(resealed(blob), e.key, cap).why == reason::entry_corrupt);
}

TEST_CASE("bytes in the variable head that lie are refused or read, never followed") {
    const entry e = sample_entry("k");
    const std::string blob = encode(e, compression::none);
    for (std::size_t at = layout::fixed_size; at + 4 < blob.size() - layout::checksum_size; ++at) {
        std::string broken = blob;
        set(broken, at, 0xfffffff0, 4);
        const decoded d = decode(resealed(broken), e.key, cap);
        REQUIRE((d.value != nullptr || d.why == reason::entry_corrupt));
    }
}

TEST_CASE("an entry with endless names cannot be encoded") {
    entry e = sample_entry("k");
    e.model.assign(layout::head_cap, 'm');
    CHECK(encode(e, compression::zstd).empty());
}

TEST_CASE("the charge counts what the entry holds") {
    entry e = sample_entry("k", "");
    const std::size_t base = charge(e);
    CHECK(base > sizeof(entry));
    e.body.assign(10'000, 'x');
    CHECK(charge(e) == base + 10'000);
    e.tags.emplace_back(100, 't');
    CHECK(charge(e) >= base + 10'100 + sizeof(std::string));
}
