#include "cache/entry/sealed.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <xxhash.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/sample_entry.hpp"

using namespace idem;
using namespace idem::cache;
using idem::test::same;
using idem::test::sample_entry;

namespace {

constexpr std::size_t cap = 1 << 20;

std::string hex(char c) {
    return std::string(64, c);
}

std::shared_ptr<const keyring> keys(const std::string& text) {
    auto read = keyring::parse(text);
    REQUIRE_MESSAGE(read.fault.empty(), read.fault);
    return std::make_shared<const keyring>(std::move(read.keys));
}

// The checksum finds accidents; here the tag has to find what was done on purpose.
std::string resealed(std::string blob) {
    blob.resize(blob.size() - 8);
    const std::uint64_t sum = XXH3_64bits(blob.data(), blob.size());
    for (int i = 0; i < 8; ++i) blob.push_back(static_cast<char>(sum >> (8 * i) & 0xff));
    return blob;
}

}  // namespace

TEST_CASE("a key file") {
    CHECK(keys("# of 2026\na " + hex('1') + "\n\n  b\t" + hex('2') + " # old\r\n")->first().id == "a");
    CHECK(keys("a " + hex('1') + "\nb " + hex('2'))->find("b") != nullptr);
    CHECK(keys("a " + hex('1'))->find("c") == nullptr);
    const std::pair<std::string, const char*> wrong[] = {
        {"", "line 1: there is no key"},
        {"# nothing\n", "there is no key"},
        {hex('1'), "line 1: expected a name"},
        {"a " + hex('1') + "\na " + hex('2'), "line 2: this name comes twice"},
        {"a " + hex('g'), "line 1: a key is 64"},
        {"a " + hex('1') + "0", "line 1: a key is 64"},
        {"a/b " + hex('1'), "line 1: a name has"},
        {std::string(17, 'a') + " " + hex('1'), "line 1: a name has"},
    };
    for (const auto& [text, fault] : wrong) {
        const auto read = keyring::parse(text);
        CHECK_MESSAGE(read.fault.find(fault) != std::string::npos, read.fault);
        CHECK(read.fault.find(hex('1')) == std::string::npos);
    }
}

TEST_CASE("what was sealed opens with its key alone, whoever else's comes first") {
    const entry e = sample_entry("k", std::string(3000, 'x') + "canary");
    const auto old = keys("old " + hex('1')), both = keys("new " + hex('2') + "\nold " + hex('1')),
               later = keys("new " + hex('2')), other = keys("old " + hex('3'));
    for (const auto c : {compression::none, compression::zstd}) {
        const std::string blob = encode_stored(e, c, old.get());
        CHECK(is_sealed(blob));
        CHECK(blob.find("canary") == std::string::npos);
        CHECK(blob.find(e.model) == std::string::npos);
        CHECK(decode_head(blob)->key == e.key);
        CHECK(decode_head(blob)->fill == e.fill);
        for (const auto& with : {old, both}) {
            const decoded d = decode_stored(blob, e.key, {cap, with});
            REQUIRE(d.value);
            CHECK(same(*d.value, e));
        }
        CHECK(decode_stored(blob, e.key, {cap, later}).why == reason::entry_unreadable);
        CHECK(decode_stored(blob, e.key, {cap, nullptr}).why == reason::entry_unreadable);
        CHECK(decode_stored(blob, e.key, {cap, other}).why == reason::entry_corrupt);  // the same name, another key
        CHECK(decode(blob, e.key, cap).why == reason::entry_unreadable);               // who knows nothing of sealing
        CHECK(encode_stored(e, c, old.get()) != blob);
        CHECK(decode_stored(blob, e.key, {100, old}).why == reason::entry_unreadable);
    }
    const std::string plain = encode_stored(e, compression::none, nullptr);
    CHECK_FALSE(is_sealed(plain));
    CHECK(decode_stored(plain, e.key, {cap, both}).value != nullptr);
}

TEST_CASE("nothing of it can be changed, cut or moved") {
    const entry e = sample_entry("k", "some words");
    const auto with = keys("a " + hex('7'));
    const std::string blob = encode_stored(e, compression::none, with.get());
    for (std::size_t i = 0; i + 8 < blob.size(); ++i) {
        for (const int bit : {0, 3, 7}) {
            std::string broken = blob;
            broken[i] = static_cast<char>(broken[i] ^ (1 << bit));
            const decoded d = decode_stored(resealed(broken), e.key, {cap, with});
            REQUIRE_MESSAGE(d.value == nullptr, i);
        }
        REQUIRE(decode_stored(blob.substr(0, i), e.key, {cap, with}).value == nullptr);
        if (i > 8) REQUIRE(decode_stored(resealed(blob.substr(0, i)), e.key, {cap, with}).value == nullptr);
    }
    const entry other = sample_entry("other", "some words");
    CHECK(decode_stored(blob, other.key, {cap, with}).why == reason::entry_corrupt);
    std::string moved = encode_stored(other, compression::none, with.get());
    moved.replace(0, 96, blob.substr(0, 96));  // another's text under this head
    CHECK(decode_stored(resealed(moved), e.key, {cap, with}).why == reason::entry_corrupt);
}

TEST_CASE("any bytes are refused or read") {
    const auto with = keys("a " + hex('7'));
    const entry e = sample_entry("k", "some words");
    CHECK(rc::check("bytes behind a sealed head", [&] {
        std::string blob = encode_stored(e, compression::none, with.get()).substr(0, 96);
        for (const char c : *rc::gen::container<std::string>(rc::gen::arbitrary<char>())) blob += c;
        if (blob.size() > 8) blob = resealed(blob);
        RC_ASSERT(decode_stored(blob, e.key, {cap, with}).value == nullptr);
    }));
}

TEST_CASE("the sealed form is that of tests/golden") {
    const auto with = keys("k1 " + hex('4'));
    const std::string blob =
        seal(encode(sample_entry("k", "some words"), compression::none), with->first(), "nonce-of-12b");
    const std::filesystem::path file = std::filesystem::path(IDEM_SOURCE_DIR) / "tests/golden/entry-sealed.hex";
    const std::string text = to_hex({reinterpret_cast<const std::uint8_t*>(blob.data()), blob.size()}) + "\n";
    if (std::getenv("IDEM_WRITE_GOLDEN") != nullptr) std::ofstream(file) << text;
    std::stringstream golden;
    golden << std::ifstream(file).rdbuf();
    CHECK(text == golden.str());
}
