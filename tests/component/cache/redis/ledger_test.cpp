#include "cache/redis/names.hpp"
#include "tests/component/cache/redis/fixture.hpp"
#include "tests/support/sample_fill.hpp"

using namespace idem;
using namespace idem::cache;
using namespace idem::test;
using namespace std::chrono_literals;
using upstream::determinism::contrast;
using upstream::determinism::level;

namespace {

redis_options with_ledger() {
    redis_options o = patient();
    o.ledger = 24h * 400;
    return o;
}

noted note(gateway& g, ledger_record r) {
    return g.io.run(g.store->note(std::move(r)));
}

std::vector<ledger_record> all(gateway& g) {
    std::vector<ledger_record> out;
    std::string from;
    do {
        ledger_page page = g.io.run(g.store->read_ledger(from));
        REQUIRE(page.why == reason::none);
        for (ledger_record& r : page.records)
            if (std::ranges::find(out, r) == out.end()) out.push_back(std::move(r));
        from = std::move(page.next);
    } while (!from.empty());
    return out;
}

}  // namespace

TEST_CASE("gateways share one ledger, and another output is told") {
    if (skipped()) return;
    redis_server server;
    gateway one(server.url(), with_ledger()), two(server.url(), with_ledger());
    CHECK(one.store->keeps_ledger());
    CHECK(note(one, fill_of("q", "1", "a", 1000)).with_before == contrast::same);
    const noted again = note(two, fill_of("q", "1", "a", 1005));
    CHECK(again.written);
    CHECK(again.with_before == contrast::same);
    CHECK(note(two, fill_of("q", "2", "a", 1006)).with_before == contrast::divergence);
    CHECK(note(one, fill_of("q", "1", "b", 1007, "other")).with_before == contrast::drift);
    CHECK(note(one, fill_of("p", "7", "b", 1007, "other")).with_before == contrast::same);
    const auto records = all(one);
    CHECK(records.size() == 4);
    ledger_record twice = fill_of("q", "1", "a", 1000);
    twice.last = 1005;
    twice.fills = 2;
    CHECK(std::ranges::count(records, twice) == 1);
}

TEST_CASE("a request's records are one key, capped and expiring") {
    if (skipped()) return;
    redis_server server;
    gateway one(server.url(), with_ledger());
    for (int i = 0; i < 40; ++i)
        CHECK(note(one, fill_of("q", std::to_string(i), "a", 1000 + i, "m", level::none)).written);
    CHECK(server.command({"DBSIZE"}) == ":1\r\n");
    const auto records = all(one);
    CHECK(records.size() == ledger_records_a_request);
    CHECK(std::ranges::all_of(records, [](const ledger_record& r) { return r.first >= 1024; }));
    const std::string name = redis::ledger_name("idem:", sha256("q"));
    CHECK(server.command({"TYPE", name}) == "+string\r\n");
    const std::string lives = server.command({"PTTL", name});
    CHECK(std::stoll(lives.substr(1)) > 399ll * 24 * 3600 * 1000);
}

TEST_CASE("a value of another format is left alone") {
    if (skipped()) return;
    redis_server server;
    gateway one(server.url(), with_ledger());
    const std::string name = redis::ledger_name("idem:", sha256("q"));
    server.command({"SET", name, "idem-ledger 2\nwhat the future brings"});
    const noted result = note(one, fill_of("q", "1", "a", 1000));
    CHECK_FALSE(result.written);
    CHECK(result.why == reason::entry_unreadable);
    CHECK(server.command({"GET", name}).find("what the future brings") != std::string::npos);
    CHECK(all(one).empty());
}

TEST_CASE("a prefix that looks like a pattern finds its own names alone") {
    if (skipped()) return;
    redis_server server;
    redis_options o = with_ledger();
    o.prefix = "a*[b]?:";
    gateway odd(server.url(), o), plain(server.url(), with_ledger());
    CHECK(note(odd, fill_of("q", "1", "a", 1000)).written);
    CHECK(note(plain, fill_of("p", "1", "a", 1000)).written);
    CHECK(all(odd).size() == 1);
    CHECK(all(plain).size() == 1);
    CHECK(all(odd)[0].request == sha256("q"));
}

TEST_CASE("many requests are read to the end") {
    if (skipped()) return;
    redis_server server;
    gateway one(server.url(), with_ledger());
    for (int i = 0; i < 1500; ++i) CHECK(note(one, fill_of(std::to_string(i), "1", "a", 1000)).written);
    CHECK(all(one).size() == 1500);
}

TEST_CASE("without Redis a record is lost, with a reason") {
    if (skipped()) return;
    redis_server server;
    gateway one(server.url(), with_ledger());
    CHECK(note(one, fill_of("q", "1", "a", 1000)).written);
    server.kill();
    const noted result = note(one, fill_of("q", "1", "a", 1001));
    CHECK_FALSE(result.written);
    CHECK(result.why != reason::none);
    CHECK(one.io.run(one.store->read_ledger({})).why != reason::none);
}
