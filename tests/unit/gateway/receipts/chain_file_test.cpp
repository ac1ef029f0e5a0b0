#include "gateway/receipts/chain_file.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "gateway/receipts/store.hpp"
#include "tests/support/sample_receipt.hpp"
#include "tests/support/temp_dir.hpp"

using namespace idem;
using namespace idem::gateway::receipts;
using namespace idem::test;

namespace {

const std::vector<std::string> two{R"({"type":"served","time":1})", R"({"type":"served","time":2})"};

std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void spill(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

}  // namespace

TEST_CASE("a chain goes on where it ended, and says how its last writer ended") {
    const temp_dir dir;
    std::vector<std::string> said;
    std::string path, id;
    {
        chain_file c;
        REQUIRE(c.open(dir.path().string(), 1, said) == "");
        CHECK(c.append(two));
        CHECK(c.append({R"({"type":"closed"})"}));
        path = c.path();
        id = c.end().chain;
        CHECK(c.end().n == 4);
    }
    CHECK(said.empty());
    {
        chain_file c;
        REQUIRE(c.open(dir.path().string(), 2, said) == "");
        CHECK(c.end().n == 4);
        CHECK(c.end().chain == id);
        CHECK(c.append(two));
    }
    CHECK(said.empty());
    chain_file c;
    REQUIRE(c.open(dir.path().string(), 3, said) == "");
    CHECK(c.end().n == 7);  // "resumed", since it was not closed
    CHECK(said.size() == 1);
    CHECK(content(path).find("\"type\":\"resumed\"") != std::string::npos);
}

TEST_CASE("wherever a write was torn, the whole lines stay and the chain is good again") {
    const temp_dir dir;
    std::vector<std::string> said;
    std::string path;
    {
        chain_file c;
        REQUIRE(c.open(dir.path().string(), 1, said) == "");
        CHECK(c.append(two));
        path = c.path();
    }
    const std::string whole = content(path);
    const auto first = whole.find('\n') + 1;
    for (std::size_t n = first; n < whole.size(); ++n) {
        spill(path, whole.substr(0, n));
        said.clear();
        chain_file c;
        REQUIRE(c.open(dir.path().string(), 2, said) == "");
        CHECK(c.path() == path);
        const std::string now = content(path);
        const auto kept = whole.rfind('\n', n - 1) + 1;
        CHECK(now.substr(0, kept) == whole.substr(0, kept));
        CHECK(now.find("\"torn_bytes\":" + std::to_string(n - kept)) != std::string::npos);
        chain_reader reader;
        std::size_t at = 0;
        for (auto to = now.find('\n'); to != std::string::npos; to = now.find('\n', at)) {
            CHECK_MESSAGE(reader.take(std::string_view(now).substr(at, to - at)), reader.error());
            at = to + 1;
        }
        CHECK(at == now.size());
        CHECK(said.size() == 1);
    }
}

TEST_CASE("a damaged chain is left alone, and one in use too") {
    const temp_dir dir;
    std::vector<std::string> said;
    chain_file one, two_of_them;
    REQUIRE(one.open(dir.path().string(), 1, said) == "");
    REQUIRE(two_of_them.open(dir.path().string(), 1, said) == "");
    CHECK(one.path() != two_of_them.path());
    CHECK(one.end().chain != two_of_them.end().chain);
    const temp_dir other;
    const std::string path = other.path().string() + "/chain.jsonl";
    spill(path, "something else\n");
    chain_file c;
    REQUIRE(c.open(other.path().string(), 1, said) == "");
    CHECK(c.path() != path);
    CHECK(content(path) == "something else\n");
    CHECK(said.size() == 1);
}

TEST_CASE("a new file names the chain that it goes on from") {
    const temp_dir dir;
    std::vector<std::string> said;
    std::ofstream(dir.path().string() + "/chain.jsonl").close();
    std::filesystem::resize_file(dir.path() / "chain.jsonl", chain_file::most_bytes);  // full: it is not even read
    chain_file c;
    REQUIRE(c.open(dir.path().string(), 1, said) == "");
    CHECK(c.path().ends_with("chain-2.jsonl"));
    CHECK_FALSE(c.full());
    std::filesystem::resize_file(dir.path() / "chain-2.jsonl", chain_file::most_bytes);
    const chain_end before = c.end();
    REQUIRE(c.roll(dir.path().string(), 1, said) == "");
    CHECK(c.path().ends_with("chain-3.jsonl"));
    CHECK(content(c.path()).find("\"after\":{\"chain\":\"" + before.chain) != std::string::npos);
}

TEST_CASE("receipts lie by key and fill, and go when they are old") {
    const temp_dir dir;
    receipt_store store(dir.path().string());
    const cache::cache_key key{filled(0xaa)};
    CHECK(store.get(key, {}) == "");
    CHECK(store.put(key, filled_id(1), "one") == "");
    CHECK(store.put(key, filled_id(2), "two") == "");
    CHECK(store.get(key, filled_id(1)) == "one");
    CHECK(store.get(key, filled_id(2)) == "two");
    CHECK(store.get(key, filled_id(3)) == "");
    const std::string folder = dir.path().string() + "/issued/aa/aa/", name = folder + to_hex(key.value.bytes) + "-";
    std::filesystem::last_write_time(name + to_hex(filled_id(1).bytes) + ".json",
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(48));
    CHECK(store.get(key, {}) == "two");
    const auto yesterday = std::chrono::duration_cast<std::chrono::seconds>(
                               (std::chrono::system_clock::now() - std::chrono::hours(24)).time_since_epoch())
                               .count();
    for (int i = 0; i < 256; ++i) store.sweep(yesterday);
    CHECK(store.get(key, filled_id(1)) == "");
    CHECK(store.get(key, filled_id(2)) == "two");
}

TEST_CASE("a key is made once, for its owner alone") {
    const temp_dir dir;
    const std::string path = dir.path().string() + "/deeper/key.pem";
    bool created = false;
    std::string error;
    const auto key = load_or_create_key(path, created, error);
    REQUIRE(key);
    CHECK(created);
    CHECK(std::filesystem::status(path).permissions() ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
    CHECK(load_or_create_key(path, created, error)->id() == key->id());
    CHECK_FALSE(created);
    CHECK_FALSE(create_key(path, error));
    std::filesystem::permissions(path, std::filesystem::perms::group_read, std::filesystem::perm_options::add);
    CHECK_FALSE(load_or_create_key(path, created, error));
    CHECK(error.find("chmod 600") != std::string::npos);
}
