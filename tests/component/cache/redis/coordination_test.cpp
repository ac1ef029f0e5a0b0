#include "cache/redis/names.hpp"
#include "tests/component/cache/redis/fixture.hpp"

using namespace idem;
using namespace idem::cache;
using namespace idem::test;
using namespace std::chrono_literals;

static constexpr std::int64_t remembered = cache::lease_remembered.count();

TEST_CASE("a record is changed only by who has seen its last version") {
    if (skipped()) return;
    redis_server server;
    gateway one(server.url()), two(server.url());
    CHECK(one.read("state").status == record_status::absent);
    CHECK(one.write("state", "x", 7).status == record_status::conflict);  // nothing there to replace
    const record_result made = one.write("state", std::string("first\0 \r\n", 9), 0);
    REQUIRE(made.status == record_status::ok);
    CHECK(made.version != 0);
    const record_result seen = two.read("state");
    REQUIRE(seen.status == record_status::ok);
    CHECK(seen.value == std::string("first\0 \r\n", 9));
    CHECK(seen.version == made.version);
    const record_result second = two.write("state", "second", 0);
    REQUIRE(second.status == record_status::conflict);
    CHECK(second.version == made.version);
    CHECK(second.value == seen.value);
    const record_result changed = two.write("state", "", made.version);
    REQUIRE(changed.status == record_status::ok);
    CHECK(changed.version == made.version + 1);
    const record_result late = one.write("state", "late", made.version);
    REQUIRE(late.status == record_status::conflict);
    CHECK(late.value == "");
    CHECK(late.version == changed.version);
    CHECK(one.read("other").status == record_status::absent);
    CHECK(server.command({"PTTL", "idem:record:{state}"}) == ":-1\r\n");
    CHECK(one.faults("wrongtype") == 0);
}

TEST_CASE("a record that was lost and made again is not the one that was read before") {
    if (skipped()) return;
    redis_server server;
    gateway one(server.url()), two(server.url());
    const record_result old = one.write("state", "old", 0);
    REQUIRE(old.status == record_status::ok);
    server.command({"FLUSHALL"});
    server.command({"SCRIPT", "FLUSH"});
    CHECK(one.write("state", "newer", old.version).status == record_status::conflict);
    CHECK(two.write("state", "theirs", 0).status == record_status::ok);
    CHECK(one.write("state", "newer", old.version).status == record_status::conflict);
    CHECK(one.read("state").value == "theirs");
}

TEST_CASE("of many writers that saw one version one wins") {
    if (skipped()) return;
    redis_server server;
    gateway one(server.url()), two(server.url());
    std::uint64_t version = 0;
    for (int round = 0; round < 30; ++round) {
        auto a = one.io.start(one.store->write_record("race", "a", version));
        auto b = two.io.start(two.store->write_record("race", "b", version));
        const record_result ra = a.get(), rb = b.get();
        REQUIRE((ra.status == record_status::ok) != (rb.status == record_status::ok));
        const bool a_won = ra.status == record_status::ok;
        CHECK(one.read("race").value == (a_won ? "a" : "b"));
        version = (a_won ? ra : rb).version;
    }
}

TEST_CASE("a record's caps, and values of another format") {
    if (skipped()) return;
    redis_server server;
    redis_options small = patient();
    small.entry = 1000;  // records have a cap of their own
    gateway g(server.url(), small);
    const record_result large = g.write("large", std::string(longest_record + 1, 'x'), 0);
    CHECK(large.status == record_status::failed);
    CHECK(large.why == reason::entry_too_large);
    CHECK(g.write(std::string(longest_record_name + 1, 'n'), "x", 0).why == reason::entry_too_large);
    CHECK(g.write("large", std::string(longest_record, 'x'), 0).status == record_status::ok);
    CHECK(g.read("large").value.size() == longest_record);
    for (const std::string_view text : {"", "idem-record 2 0000000000000001 x", "idem-record 1 00000000000000G1 x"}) {
        server.command({"SET", "idem:record:{odd}", text});
        CHECK(g.read("odd").status == record_status::failed);
        CHECK(g.read("odd").why == reason::entry_unreadable);
        CHECK(g.write("odd", "x", 1).status != record_status::ok);
        CHECK(g.write("odd", "x", 0).status != record_status::ok);
    }
}

TEST_CASE("a lease has one holder, who extends it and gives it back") {
    if (skipped()) return;
    redis_server server;
    gateway one(server.url()), two(server.url());
    const id128 a = sample_id("a"), b = sample_id("b");
    CHECK(one.lease("r", a, 60s).status == lease_status::held);
    CHECK_FALSE(one.lease("r", a, 60s).wanted);
    CHECK(two.release("r", b).status == lease_status::taken);
    CHECK(two.lease("other", b, 60s).status == lease_status::held);
    server.command({"PEXPIRE", "idem:lease:{r}", std::to_string(remembered + 20'000)});
    CHECK(two.lease("r", b, 60s).status == lease_status::taken);
    // Who only asks does not make it last longer.
    CHECK(std::stoll(server.command({"PTTL", "idem:lease:{r}"}).substr(1)) <= remembered + 20'000);
    CHECK(one.lease("r", a, 60s).wanted);
    CHECK(std::stoll(server.command({"PTTL", "idem:lease:{r}"}).substr(1)) > remembered + 50'000);
    CHECK(one.release("r", a).status == lease_status::held);
    CHECK(one.lease("r", a, 60s).status == lease_status::taken);  // kept for who asked
    CHECK(two.lease("r", b, 60s).status == lease_status::held);
    CHECK(one.lease("r", a, 60s).status == lease_status::taken);
    CHECK(two.lease("r", b, 60s).wanted);
    CHECK(two.release("r", b).status == lease_status::held);
    CHECK(std::stoll(server.command({"PTTL", "idem:lease:{r}"}).substr(1)) <= remembered + lease_reserved.count());
    // Nobody claims it: it is free after a moment.
    CHECK(eventually([&] { return two.lease("r", b, 60s).status == lease_status::held; }));
    CHECK(two.release("r", b).status == lease_status::held);
    CHECK(server.command({"GET", "idem:lease:{r}"}) == "$77\r\nidem-lease 2 " + std::string(64, '0') + "\r\n");
}

TEST_CASE("who gets a lease is told how it was left") {
    if (skipped()) return;
    redis_server server;
    gateway one(server.url()), two(server.url());
    const id128 a = sample_id("a"), b = sample_id("b");
    CHECK(one.lease("r", a, 60s).before == lease_past::unknown);
    CHECK(one.lease("r", a, 60s).before == lease_past::settled);
    CHECK(one.release("r", a).status == lease_status::held);
    CHECK(two.lease("r", b, 50ms).before == lease_past::settled);
    lease_result next;
    CHECK(eventually([&] { return (next = one.lease("r", a, 60s)).status == lease_status::held; }));
    CHECK(next.before == lease_past::lapsed);
    CHECK(two.lease("r", b, 60s).status == lease_status::taken);
    CHECK(one.release("r", a, false).status == lease_status::held);
    CHECK(one.release("r", a).status == lease_status::taken);
    CHECK(two.lease("r", b, 60s).before == lease_past::lapsed);
    // Reserved for one who does not come, and so begins nothing.
    CHECK(one.lease("r", a, 60s).status == lease_status::taken);
    CHECK(two.release("r", b).status == lease_status::held);
    CHECK(two.lease("r", b, 60s).status == lease_status::taken);
    CHECK(eventually([&] { return (next = two.lease("r", b, 60s)).status == lease_status::held; }));
    CHECK(next.before == lease_past::settled);
    server.command({"FLUSHALL"});
    CHECK(one.lease("r", a, 60s).before == lease_past::unknown);
}

TEST_CASE("a lease that is not renewed ends by Redis' clock, and its holder learns of it") {
    if (skipped()) return;
    redis_server server;
    gateway one(server.url()), two(server.url());
    const id128 a = sample_id("a"), b = sample_id("b");
    REQUIRE(one.lease("r", a, 100ms).status == lease_status::held);
    CHECK(eventually([&] { return two.lease("r", b, 60s).status == lease_status::held; }));
    CHECK(one.lease("r", a, 60s).status == lease_status::taken);
    CHECK(one.release("r", a).status == lease_status::taken);
    CHECK(two.lease("r", b, 60s).wanted);
}

TEST_CASE("a lease of another format is nobody's") {
    if (skipped()) return;
    redis_server server;
    gateway g(server.url());
    server.command({"SET", "idem:lease:{r}", "idem-lease 1 whatever"});
    const lease_result r = g.lease("r", sample_id("a"), 60s);
    CHECK(r.status == lease_status::failed);
    CHECK(r.why == reason::entry_unreadable);
    CHECK(g.release("r", sample_id("a")).status == lease_status::taken);
    CHECK(server.command({"GET", "idem:lease:{r}"}) == "$21\r\nidem-lease 1 whatever\r\n");
}

TEST_CASE("Redis gone: records and leases fail with a reason, within their time") {
    if (skipped()) return;
    redis_server server;
    redis_options quick;
    gateway g(server.url(), quick);
    const id128 a = sample_id("a");
    REQUIRE(eventually([&] { return g.lease("r", a, 60s).status == lease_status::held; }));
    server.pause();
    const auto began = std::chrono::steady_clock::now();
    const lease_result hung = g.lease("r", a, 60s);
    CHECK(hung.status == lease_status::failed);
    CHECK(hung.why != reason::none);
    CHECK(std::chrono::steady_clock::now() - began < 10s);
    CHECK(g.read("x").status == record_status::failed);
    CHECK(g.write("x", "y", 0).status == record_status::failed);
    CHECK(g.write("x", "y", 9).why != reason::none);
    CHECK(g.release("r", a).status == lease_status::failed);
    server.resume();
    CHECK(eventually([&] { return g.write("x", "y", 0).status != record_status::failed; }));
    server.kill();
    CHECK(g.read("x").status == record_status::failed);
    g.store->close();
    CHECK(g.lease("r", a, 60s).status == lease_status::failed);
}

TEST_CASE("the ACL of the manual suffices") {
    if (skipped()) return;
    redis_server server;
    server.command({"ACL", "SETUSER", "idem", "on", ">secret", "resetchannels", "~idem:*", "-@all", "+get", "+set",
                    "+pttl", "+unlink", "+eval", "+evalsha", "+client|setname", "+select", "+ping", "+auth"});
    gateway g("redis://idem:secret@127.0.0.1:" + std::to_string(server.port()));
    const record_result made = g.write("x", "y", 0);
    CHECK(made.status == record_status::ok);
    CHECK(g.write("x", "z", made.version).status == record_status::ok);
    CHECK(g.lease("r", sample_id("a"), 60s).status == lease_status::held);
    CHECK(g.lease("r", sample_id("b"), 60s).status == lease_status::taken);
    CHECK(g.release("r", sample_id("a")).status == lease_status::held);
    CHECK(g.lease("r", sample_id("b"), 60s).status == lease_status::held);
    CHECK(g.release("r", sample_id("b")).status == lease_status::held);
}
