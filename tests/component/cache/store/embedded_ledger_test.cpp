#include "tests/component/cache/store/embedded_support.hpp"
#include "tests/support/sample_fill.hpp"

using namespace idem;
using namespace idem::test;
using cache::ledger_page;
using cache::ledger_record;
using cache::noted;
using upstream::determinism::contrast;
using upstream::determinism::level;

namespace {

const auto with_ledger = [](cache::embedded_options& o) { o.ledger = 24h * 400; };

// The store expires by the machine's clock.
cache::unix_ms today() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

noted note(cache::store& s, ledger_record r) {
    return wait(s.note(std::move(r)));
}

std::vector<ledger_record> all(cache::store& s) {
    std::vector<ledger_record> out;
    std::string from;
    do {
        ledger_page page = wait(s.read_ledger(from));
        REQUIRE(page.why == reason::none);
        out.insert(out.end(), page.records.begin(), page.records.end());
        from = page.next;
    } while (!from.empty());
    return out;
}

}  // namespace

TEST_CASE("equal fills share a record, another output is another one and is told") {
    const scratch dir;
    const cache::unix_ms t = today();
    {
        const auto store = open(dir.path(), nullptr, with_ledger);
        CHECK(store->keeps_ledger());
        CHECK(note(*store, fill_of("q", "1", "a", t)).with_before == contrast::same);
        const noted again = note(*store, fill_of("q", "1", "a", t + 5));
        CHECK(again.written);
        CHECK(again.with_before == contrast::same);
        CHECK(note(*store, fill_of("q", "2", "a", t + 6)).with_before == contrast::divergence);
        CHECK(note(*store, fill_of("q", "1", "b", t + 7, "other")).with_before == contrast::drift);
        CHECK(note(*store, fill_of("p", "7", "b", t + 7, "other")).with_before == contrast::same);
    }
    const auto store = open(dir.path(), nullptr, with_ledger);
    const auto records = all(*store);
    REQUIRE(records.size() == 4);
    ledger_record twice = fill_of("q", "1", "a", t);
    twice.last = t + 5;
    twice.fills = 2;
    CHECK(std::ranges::count(records, twice) == 1);
    CHECK(std::ranges::count(records, fill_of("q", "2", "a", t + 6)) == 1);
}

TEST_CASE("of one request the latest records stay") {
    const scratch dir;
    const auto store = open(dir.path(), nullptr, with_ledger);
    const cache::unix_ms t = today();
    for (int i = 0; i < 40; ++i)
        CHECK(note(*store, fill_of("q", std::to_string(i), "a", t + i, "m", level::none)).written);
    const auto records = all(*store);
    CHECK(records.size() == cache::ledger_records_a_request);
    CHECK(std::ranges::all_of(records, [&](const ledger_record& r) { return r.first >= t + 24; }));
}

TEST_CASE("purge and eviction leave the ledger alone") {
    const scratch dir;
    const auto store = open(dir.path(), nullptr, with_ledger);
    CHECK(stored(*store, lasting("a")));
    CHECK(note(*store, fill_of("a", "1", "a", today())).written);
    CHECK(wait(store->erase(sample_key("a"))) == cache::erase_status::erased);
    CHECK(all(*store).size() == 1);
}

TEST_CASE("pages hold whole requests and miss none") {
    const scratch dir;
    const auto store = open(dir.path(), nullptr, [](cache::embedded_options& o) {
        with_ledger(o);
        o.size = std::uint64_t{1} << 30;  // has room for more than these
    });
    CHECK(note(*store, fill_of("first", "1", "a", today())).written);
    // By hand, since writing so many one by one takes a while.
    outside(dir.path())
        .run(
            "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<9998) INSERT INTO ledger SELECT "
            "-5751043740627095504, CAST(printf('%032d', i/3) AS BLOB), 'qwen', zeroblob(16), CAST(printf('%032d', i) "
            "AS BLOB), "
            "zeroblob(32), 0, 0, 0, 0, 1, 4000000000000, 1 FROM n");
    std::string from;
    std::vector<digest> requests;
    int pages = 0;
    do {
        const ledger_page page = wait(store->read_ledger(from));
        REQUIRE(page.why == reason::none);
        ++pages;
        for (const ledger_record& r : page.records) requests.push_back(r.request);
        if (!page.next.empty()) CHECK(std::ranges::count(requests, requests.back()) == 3);
        from = page.next;
    } while (!from.empty());
    CHECK(pages >= 3);
    CHECK(requests.size() == 10'000);
    CHECK(std::ranges::is_sorted(requests));
}

TEST_CASE("records past the ledger's lifetime go, and beyond its share of the file the oldest") {
    const scratch dir;
    const auto set = [](cache::embedded_options& o) {
        o.ledger = 24h;
        o.size = 1 << 20;  // 128 records
    };
    const auto store = open(dir.path(), nullptr, set);
    CHECK(note(*store, fill_of("old", "1", "a", today() - 2 * 24 * 3600 * 1000)).written);
    for (int i = 0; i < 300; ++i) CHECK(note(*store, fill_of(std::to_string(i), "1", "a", today())).written);
    CHECK(eventually([&] { return all(*store).size() <= 128; }, 60s));
    CHECK(std::ranges::none_of(all(*store), [](const ledger_record& r) { return r.request == sha256("old"); }));
}

TEST_CASE("a file of schema 3 gets a ledger, its entries kept") {
    const scratch dir;
    {
        const auto store = open(dir.path());
        CHECK_FALSE(store->keeps_ledger());
        CHECK(stored(*store, lasting("a")));
    }
    outside(dir.path()).run("DROP TABLE ledger; PRAGMA user_version=3");
    const auto store = open(dir.path(), nullptr, with_ledger);
    CHECK(find(*store, "a").status == cache::lookup_status::found);
    CHECK(note(*store, fill_of("q", "1", "a", today())).written);
    CHECK(all(*store).size() == 1);
    CHECK(outside(dir.path()).ask("PRAGMA user_version") == "4");
}

TEST_CASE("a closed store says so") {
    const scratch dir;
    const auto store = open(dir.path(), nullptr, with_ledger);
    store->close();
    CHECK_FALSE(note(*store, fill_of("q", "1", "a", today())).written);
    CHECK(wait(store->read_ledger({})).why != reason::none);
}
