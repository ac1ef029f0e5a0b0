#include "cache/store/embedded.hpp"

#include <sys/stat.h>

#include <array>
#include <thread>

#include "tests/component/cache/store/embedded_support.hpp"

using namespace idem;
using namespace idem::test;
using cache::erase_status;
using cache::lookup_status;
using cache::put_status;

TEST_CASE("an entry comes back as it went in, also after closing") {
    const scratch dir;
    const auto e = lasting("a", std::string(3000, 'x') + "\0binary\xff");
    {
        const auto store = open(dir.path());
        CHECK(find(*store, "a").status == lookup_status::absent);
        CHECK(stored(*store, e));
        const auto found = find(*store, "a");
        REQUIRE(found.status == lookup_status::found);
        CHECK(same(*found.value, *e));
        CHECK(find(*store, "b").status == lookup_status::absent);
        CHECK(store->stats().healthy);
        CHECK(store->stats().state == "ok");
        CHECK(store->stats().stored == 1);
    }
    const auto store = open(dir.path());
    const auto found = find(*store, "a");
    REQUIRE(found.status == lookup_status::found);
    CHECK(same(*found.value, *e));
    CHECK(eventually([&] { return store->stats().entries == 1; }));
}

TEST_CASE("the first writer wins, and the second is told by whose bytes") {
    const scratch dir;
    const auto store = open(dir.path());
    const auto first = lasting("a", "1"), second = lasting("a", "2");
    CHECK(stored(*store, first));
    const auto result = put(*store, second);
    REQUIRE(result.status == put_status::lost);
    CHECK(same(*result.winner, *first));
    CHECK(same(*find(*store, "a").value, *first));
    CHECK(store->stats().lost == 1);
}

TEST_CASE("an entry past its soft lifetime is dead, readable and replaceable") {
    const scratch dir;
    const auto store = open(dir.path());
    const auto old = lasting("a", "1");
    CHECK(stored(*store, old));
    const auto later = old->fresh_until;
    CHECK(find(*store, "a", later - 1).status == lookup_status::found);
    const auto dead = find(*store, "a", later);
    REQUIRE(dead.status == lookup_status::dead);
    CHECK(dead.dead_fill == old->fill);
    CHECK(dead.why == reason::none);
    CHECK(same(*dead.value, *old));
    const auto fresh = lasting("a", "2", later);
    CHECK(put(*store, fresh, dead.dead_fill, later).status == put_status::stored);
    CHECK(same(*find(*store, "a", later).value, *fresh));
    // Whoever comes second with the same dead fill in hand meets the new one.
    const auto late = put(*store, lasting("a", "3", later), dead.dead_fill, later);
    REQUIRE(late.status == put_status::lost);
    CHECK(same(*late.winner, *fresh));
}

TEST_CASE("a live entry that its caller knows to be dead is replaced by its fill id only") {
    const scratch dir;
    const auto store = open(dir.path());
    const auto banned = lasting("a", "1");
    CHECK(stored(*store, banned));
    CHECK(put(*store, lasting("a", "2"), sample_id("another")).status == put_status::lost);
    CHECK(put(*store, lasting("a", "2"), banned->fill).status == put_status::stored);
    CHECK(find(*store, "a").value->body == "2");
}

TEST_CASE("an entry past its store lifetime is absent and goes") {
    const scratch dir;
    const auto store = open(dir.path());
    const auto e = lasting("a");
    CHECK(stored(*store, e));
    CHECK(find(*store, "a", e->keep_until).status == lookup_status::absent);
    CHECK(eventually([&] { return store->stats().expired == 1; }));
    CHECK(find(*store, "a").status == lookup_status::absent);
}

TEST_CASE("erase") {
    const scratch dir;
    const auto store = open(dir.path());
    CHECK(stored(*store, lasting("a")));
    CHECK(wait(store->erase(sample_key("a"))) == erase_status::erased);
    CHECK(wait(store->erase(sample_key("a"))) == erase_status::absent);
    CHECK(find(*store, "a").status == lookup_status::absent);
    CHECK(stored(*store, lasting("a", "again")));
    CHECK(find(*store, "a").value->body == "again");
}

TEST_CASE("a name is bound once, until its time is over, and for all") {
    const scratch dir;
    const auto name = sha256("name"), ours = sha256("ours"), theirs = sha256("theirs");
    const cache::unix_ms t = 4'102'444'800'000;  // upkeep deletes by the real clock
    {
        const auto store = open(dir.path()), other = open(dir.path());
        const auto made = wait(store->bind({name, ours, t + 1000}, t + 1));
        CHECK(made.ok);
        CHECK(made.value == ours);
        CHECK(wait(other->bind({name, theirs, t + 2000}, t + 999)).value == ours);
        CHECK(wait(store->bind({sha256("another"), theirs, t + 1000}, t + 1)).value == theirs);
    }
    const auto store = open(dir.path());
    CHECK(wait(store->bind({name, theirs, t + 2000}, t + 500)).value == ours);
    CHECK(wait(store->bind({name, theirs, t + 2000}, t + 1000)).value == theirs);
}

// What files before schema 3 had.
const std::string older_epochs =
    "CREATE TABLE epochs(upstream TEXT PRIMARY KEY, id BLOB NOT NULL, environment BLOB NOT NULL, created INTEGER NOT "
    "NULL)"
    " WITHOUT ROWID;"
    "INSERT INTO epochs VALUES('qwen', x'000102030405060708090a0b0c0d0e0f', zeroblob(32), 1)";

TEST_CASE("a file of schema 1 is brought up, its entries kept") {
    const scratch dir;
    {
        const auto store = open(dir.path());
        CHECK(stored(*store, lasting("a")));
    }
    outside(dir.path())
        .run("DROP TABLE bindings; DROP TABLE records; DROP TABLE leases; DROP TABLE ledger; PRAGMA user_version=1;" +
             older_epochs);
    const auto store = open(dir.path());
    CHECK(find(*store, "a").status == lookup_status::found);
    CHECK(wait(store->bind({sha256("name"), sha256("value"), 2}, 1)).ok);
    CHECK(wait(store->read_record("epoch/qwen")).value ==
          "idem-epoch 1 000102030405060708090a0b0c0d0e0f " + std::string(64, '0'));
    CHECK(stored(*store, lasting("b")));
}

TEST_CASE("an entry of a newer format is left alone") {
    const scratch dir;
    const auto store = open(dir.path());
    CHECK(stored(*store, lasting("a")));
    outside(dir.path()).run(("UPDATE entries SET format=" + std::to_string(cache::entry_format + 1)).c_str());
    const auto found = find(*store, "a");
    CHECK(found.status == lookup_status::foreign);
    CHECK(found.why == reason::entry_unreadable);
    const auto result = put(*store, lasting("a", "2"));
    CHECK(result.status == put_status::refused);
    CHECK(result.why == reason::entry_unreadable);
    // Nor is it swept when its time is over: its lifetime may mean something else.
    CHECK(find(*store, "a", born * 2).status == lookup_status::foreign);
    CHECK(outside(dir.path()).ask("SELECT count(*) FROM entries") == "1");
}

TEST_CASE("a damaged entry is dead by the fill id of its row, and replaced") {
    const scratch dir;
    const auto store = open(dir.path());
    const auto e = lasting("a");
    CHECK(stored(*store, e));
    outside(dir.path()).run("UPDATE entries SET blob=substr(blob,1,length(blob)-1)||x'00'");
    const auto found = find(*store, "a");
    CHECK(found.status == lookup_status::dead);
    CHECK(found.why == reason::entry_corrupt);
    CHECK(found.value == nullptr);
    CHECK(found.dead_fill == e->fill);
    CHECK(put(*store, lasting("a", "2"), found.dead_fill).status == put_status::stored);
    CHECK(find(*store, "a").value->body == "2");
}

TEST_CASE("an entry above a cap is refused by name") {
    const scratch dir;
    const auto store = open(dir.path(), nullptr, [](auto& o) { o.reading.body_cap = 1000; });
    CHECK(stored(*store, lasting("a", std::string(1000, 'x'))));
    const auto result = put(*store, lasting("b", std::string(1001, 'x')));
    CHECK(result.status == put_status::refused);
    CHECK(result.why == reason::entry_too_large);
    CHECK(store->stats().refused == 1);
}

TEST_CASE("operators read the file with sqlite3 while it is open") {
    const scratch dir;
    const auto store = open(dir.path());
    CHECK(stored(*store, lasting("a")));
    outside shell(dir.path());
    CHECK(shell.ask("SELECT key, created, model, upstream, format FROM readable") ==
          to_hex(sample_key("a").value.bytes) + "|2096-10-02 07:06:40|qwen3|default|2");
    CHECK(shell.ask("PRAGMA integrity_check") == "ok");
    struct stat info{};
    REQUIRE(::stat((dir.path() + "/idem.db").c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("the file respects its size; what was used stays, the oldest unused goes") {
    const scratch dir;
    constexpr std::size_t size = 4 << 20;
    const auto store = open(dir.path(), nullptr, [](auto& o) {
        o.size = size;
        o.compress = cache::compression::none;
    });
    const std::string body(20'000, 'x');
    for (int i = 0; i < 600; ++i) {
        REQUIRE(stored(*store, lasting("k" + std::to_string(i), body)));
        // Ten early ones are in use all the time.
        if (i >= 10 && i % 20 == 0)
            for (int hot = 0; hot < 10; ++hot) (void)find(*store, "k" + std::to_string(hot));
    }
    CHECK(std::filesystem::file_size(dir.path() + "/idem.db") <= size);
    CHECK(store->stats().bytes <= size);
    CHECK(store->stats().evictions > 300);
    for (int hot = 0; hot < 10; ++hot) CHECK(find(*store, "k" + std::to_string(hot)).status == lookup_status::found);
    CHECK(find(*store, "k599").status == lookup_status::found);
    CHECK(find(*store, "k20").status == lookup_status::absent);
}

TEST_CASE("a file that is larger than its new size shrinks") {
    const scratch dir;
    const std::string path = dir.path() + "/idem.db";
    {
        const auto store = open(dir.path(), nullptr, [](auto& o) { o.compress = cache::compression::none; });
        for (int i = 0; i < 400; ++i)
            REQUIRE(stored(*store, lasting("k" + std::to_string(i), std::string(20'000, 'x'))));
    }
    CHECK(std::filesystem::file_size(path) > 7u << 20);
    const auto store = open(dir.path(), nullptr, [](auto& o) { o.size = 2 << 20; });
    CHECK(eventually([&] { return std::filesystem::file_size(path) <= 2u << 20; }));
    CHECK(find(*store, "k399").status == lookup_status::found);
}

TEST_CASE("two stores on one directory: one winner a key, seen by both at once") {
    const scratch dir;
    const auto one = open(dir.path()), two = open(dir.path());
    std::array<std::vector<cache::put_result>, 2> results;
    const auto writer = [&](cache::store& store, std::size_t who) {
        for (int i = 0; i < 200; ++i)
            results[who].push_back(put(store, lasting("k" + std::to_string(i), std::to_string(who))));
    };
    std::thread other([&] { writer(*two, 1); });
    writer(*one, 0);
    other.join();
    for (int i = 0; i < 200; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool first_won = results[0][at].status == put_status::stored;
        CHECK(first_won != (results[1][at].status == put_status::stored));
        const auto& loser = results[first_won ? 1 : 0][at];
        REQUIRE(loser.status == put_status::lost);
        CHECK(loser.winner->body == (first_won ? "0" : "1"));
    }
    for (int i = 0; i < 50; ++i) {
        const std::string key = "later" + std::to_string(i);
        auto& writes = i % 2 == 0 ? *one : *two;
        auto& reads = i % 2 == 0 ? *two : *one;
        CHECK(find(reads, key).status == lookup_status::absent);
        CHECK(stored(writes, lasting(key)));
        CHECK(find(reads, key).status == lookup_status::found);
    }
}

TEST_CASE("what is queued at close is written") {
    const scratch dir;
    std::size_t done = 0;
    {
        const auto store = open(dir.path());
        net::asio::io_context context(1);
        for (int i = 0; i < 500; ++i)
            net::asio::co_spawn(
                context.get_executor(), store->put(lasting("k" + std::to_string(i)), {}, now),
                [&](std::exception_ptr, cache::put_result r) { done += r.status == put_status::stored; });
        context.poll();
        store->close();
        context.run();
    }
    CHECK(done == 500);
    const auto store = open(dir.path());
    for (int i = 0; i < 500; ++i) CHECK(find(*store, "k" + std::to_string(i)).status == lookup_status::found);
}

TEST_CASE("calls after close fail, and closing twice is harmless") {
    const scratch dir;
    const auto store = open(dir.path());
    store->close();
    store->close();
    CHECK(find(*store, "a").status == lookup_status::failed);
    CHECK(put(*store, lasting("a")).status != put_status::stored);
    CHECK(wait(store->erase(sample_key("a"))) == erase_status::failed);
    CHECK(wait(store->write_record("u", "v", 0)).status == cache::record_status::failed);
}

TEST_CASE("many I/O threads at once") {
    const scratch dir;
    const auto store = open(dir.path());
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 150; ++i) {
                const std::string key = "k" + std::to_string((i * 7 + t) % 100);
                const auto result = put(*store, lasting(key, key));
                if (result.status == put_status::lost && result.winner->body != key) ++wrong;
                const auto found = find(*store, key);
                if (found.status != lookup_status::found || found.value->body != key) ++wrong;
            }
        });
    for (auto& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(store->stats().stored == 100);
}

TEST_CASE("arguments that no waiting can mend are refused at once") {
    std::string error;
    CHECK(cache::open_embedded({.path = "", .log = {}}, error) == nullptr);
    CHECK(error.find("path") != std::string::npos);
    const scratch dir;
    CHECK(cache::open_embedded({.path = dir.path(), .size = 1000, .log = {}}, error) == nullptr);
    CHECK(error.find("size") != std::string::npos);
}
