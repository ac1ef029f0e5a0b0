#include "cache/redis/redis_store.hpp"

#include "tests/component/cache/redis/fixture.hpp"

using namespace idem;
using namespace idem::cache;
using namespace idem::test;

namespace {

// As ACL line in cache/README.md.
constexpr std::initializer_list<std::string_view> acl = {
    "ACL",  "SETUSER", "idem",  "on",       ">pa ss",          "resetchannels", "~idem:*", "-@all", "+get",
    "+set", "+unlink", "+eval", "+evalsha", "+client|setname", "+select",       "+ping",   "+auth"};

}  // namespace

TEST_CASE("what is stored is found, with its lifetime; then erased") {
    if (skipped()) return;
    redis_server server;
    gateway g(server.url());
    CHECK(g.find("a").status == lookup_status::absent);
    const auto e = sample("a", std::string(100'000, 'x') + "end");
    CHECK(g.put(e).status == put_status::stored);
    const lookup there = g.find("a");
    REQUIRE(there.status == lookup_status::found);
    CHECK(body_of(there.value) == e->body);
    CHECK(there.value->fill == e->fill);
    CHECK(there.value->headers == e->headers);
    const std::string ttl = server.command({"PTTL", name_of("a")});
    const long long ms = std::stoll(ttl.substr(1));
    CHECK(ms <= e->keep_until - 2000);
    CHECK(ms > e->keep_until - 2000 - 60'000);
    CHECK(g.erase("a") == erase_status::erased);
    CHECK(g.erase("a") == erase_status::absent);
    CHECK(g.find("a").status == lookup_status::absent);
    CHECK(g.store->stats().state == "ok");
    CHECK(g.store->stats().faults.empty());
}

TEST_CASE("first writer wins, between two stores at the same moment") {
    if (skipped()) return;
    redis_server server;
    gateway one(server.url()), two(server.url());
    for (int i = 0; i < 50; ++i) {
        const std::string name = "race " + std::to_string(i);
        const auto mine = sample(name, "mine"), theirs = sample(name, "theirs");
        auto a = one.io.start(one.store->put(mine, {}, 2000));
        auto b = two.io.start(two.store->put(theirs, {}, 2000));
        const put_result ra = a.get(), rb = b.get();
        REQUIRE((ra.status == put_status::stored) != (rb.status == put_status::stored));
        const put_result& loser = ra.status == put_status::stored ? rb : ra;
        const auto& winner = ra.status == put_status::stored ? mine : theirs;
        CHECK(loser.status == put_status::lost);
        REQUIRE(loser.winner);
        CHECK(body_of(loser.winner) == winner->body);
        CHECK(body_of(one.find(name).value) == winner->body);
        CHECK(body_of(two.find(name).value) == winner->body);
    }
}

TEST_CASE("an entry past its soft lifetime is dead, and replaced by compare and replace") {
    if (skipped()) return;
    redis_server server;
    gateway g(server.url());
    const auto old = sample("a", "old");
    REQUIRE(g.put(old).status == put_status::stored);
    const unix_ms later = old->fresh_until;
    const lookup dead = g.find("a", later);
    CHECK(dead.status == lookup_status::dead);
    CHECK(dead.dead_fill == old->fill);
    REQUIRE(dead.value);
    CHECK(body_of(dead.value) == "old");
    const auto fresh = sample("a", "new", later);
    CHECK(g.put(fresh, later, dead.dead_fill).status == put_status::stored);
    CHECK(body_of(g.find("a", later).value) == "new");
    // Whoever saw the same dead entry and comes second has lost.
    const put_result second = g.put(sample("a", "newer", later), later, dead.dead_fill);
    CHECK(second.status == put_status::lost);
    CHECK(body_of(second.winner) == "new");
}

TEST_CASE("a live entry is replaced only by who names its fill") {
    if (skipped()) return;
    redis_server server;
    gateway g(server.url());
    const auto old = sample("a", "old");
    REQUIRE(g.put(old).status == put_status::stored);
    CHECK(g.put(sample("a", "new"), 2000, sample_id("another fill")).status == put_status::lost);
    CHECK(g.put(sample("a", "new"), 2000, old->fill).status == put_status::stored);
    REQUIRE(g.find("a").value);
    CHECK(body_of(g.find("a").value) == "new");
}

TEST_CASE("corrupt values are dead and replaced") {
    if (skipped()) return;
    redis_server server;
    gateway g(server.url());
    const auto e = sample("a", "body");
    const std::string whole = encode(*e, compression::none);
    std::string flipped = whole;
    flipped[flipped.size() / 2] ^= 1;
    const std::string other = encode(*sample("b", "body"), compression::none);
    for (const std::string& value : {std::string(), std::string("garbage"), whole.substr(0, 50), whole.substr(0, 200),
                                     flipped, other, std::string(300, '\0')}) {
        CAPTURE(value.size());
        server.command({"SET", name_of("a"), value});
        const lookup l = g.find("a");
        CHECK(l.status == lookup_status::dead);
        CHECK(l.why == reason::entry_corrupt);
        REQUIRE(eventually([&] { return g.put(e, 2000, l.dead_fill).status == put_status::stored; }));
        CHECK(g.find("a").status == lookup_status::found);
    }
    CHECK(g.faults("stranger") >= 1);  // another key's entry under this name: the connection was left
}

TEST_CASE("a newer format and a foreign type are left alone") {
    if (skipped()) return;
    redis_server server;
    gateway g(server.url());
    std::string newer = encode(*sample("a", "body"), compression::none);
    newer[4] = entry_format + 1;
    server.command({"SET", name_of("a"), newer});
    CHECK(g.find("a").status == lookup_status::foreign);
    CHECK(g.find("a").why == reason::entry_unreadable);
    const put_result r = g.put(sample("a", "body"));
    CHECK(r.status == put_status::refused);
    CHECK(r.why == reason::entry_unreadable);
    CHECK(server.command({"GET", name_of("a")}) == "$" + std::to_string(newer.size()) + "\r\n" + newer + "\r\n");

    server.command({"LPUSH", name_of("l"), "x"});
    CHECK(g.find("l").status == lookup_status::foreign);
    CHECK(g.put(sample("l", "body")).status == put_status::refused);
    CHECK(g.faults("wrongtype") == 2);
    CHECK(server.command({"LLEN", name_of("l")}) == ":1\r\n");
}

TEST_CASE("entries expire by Redis' clock") {
    if (skipped()) return;
    redis_server server;
    gateway g(server.url());
    entry e = sample_entry("a");
    e.keep_until = 2000 + 30;
    e.fresh_until = e.keep_until;
    CHECK(g.put(std::make_shared<const entry>(e)).status == put_status::stored);
    CHECK(eventually([&] { return g.find("a").status == lookup_status::absent; }));
    CHECK(g.put(std::make_shared<const entry>(e), 2030).status == put_status::refused);
}

TEST_CASE("Redis before 7: a script does what SET cannot") {
    if (skipped()) return;
    redis_server server;
    fault_proxy proxy(server.port());
    // Redis 6 refuses NX with GET. The real one behind the proxy has already done it, so take it back.
    proxy.rewrite_replies([&](std::string_view verb, std::string reply) {
        return verb == "SET" ? std::string("-ERR syntax error\r\n") : std::move(reply);
    });
    gateway g(proxy.url());
    CHECK(g.put(sample("first", "x")).status == put_status::lost);  // finds what the refused SET left
    CHECK(g.faults("syntax_error") == 1);
    CHECK(g.faults("noscript") == 1);
    CHECK(g.put(sample("a", "one")).status == put_status::stored);
    const put_result r = g.put(sample("a", "two"));
    CHECK(r.status == put_status::lost);
    CHECK(body_of(r.winner) == "one");
    CHECK(g.faults("syntax_error") == 1);
    CHECK(g.faults("noscript") == 1);
    CHECK(std::stoll(server.command({"PTTL", name_of("a")}).substr(1)) > 0);
    server.command({"SCRIPT", "FLUSH"});
    CHECK(g.put(sample("b", "one")).status == put_status::stored);
    CHECK(g.faults("noscript") == 2);
    CHECK(g.store->stats().state == "ok");
}

TEST_CASE("a name is bound once, for all, until its time is over") {
    if (skipped()) return;
    redis_server server;
    gateway one(server.url()), two(server.url());
    const idem::digest name = sha256("name"), mine = sha256("mine"), theirs = sha256("theirs");
    const std::string key = "idem:bind:{" + idem::to_hex(name.bytes) + "}";
    CHECK(one.bind({name, mine, 60'000}, 0).value == mine);
    CHECK(two.bind({name, theirs, 60'000}, 0).value == mine);
    CHECK(two.bind({sha256("other"), theirs, 60'000}, 0).value == theirs);
    const auto lives = std::stoll(server.command({"PTTL", key}).substr(1));
    CHECK(lives > 50'000);
    CHECK(lives <= 60'000);
    server.command({"DEL", key});
    CHECK(two.bind({name, theirs, 60'000}, 0).value == theirs);
    server.command({"SET", key, "idem-bind 2 whatever"});
    const bind_result newer = one.bind({name, mine, 60'000}, 0);
    CHECK_FALSE(newer.ok);
    CHECK(newer.why == reason::entry_unreadable);
}

TEST_CASE("caps: an entry above them is not sent") {
    if (skipped()) return;
    redis_server server;
    redis_options small = patient();
    small.entry = 1000;
    gateway g(server.url(), small);
    const put_result r = g.put(sample("a", std::string(1001, 'x')));
    CHECK(r.status == put_status::refused);
    CHECK(r.why == reason::entry_too_large);
    CHECK(g.put(sample("a", std::string(1000, 'x'))).status == put_status::stored);
    // Another gateway with a larger cap stored it: the connection is left, nothing is believed, memory is bounded.
    gateway large(server.url());
    std::string noise;
    for (int i = 0; noise.size() < 2'000'000; ++i) {
        noise += to_hex(sha256(std::to_string(i)).bytes);
    }
    REQUIRE(large.put(sample("b", noise)).status == put_status::stored);
    const lookup l = g.find("b");
    CHECK(l.status == lookup_status::failed);
    CHECK(l.why == reason::entry_too_large);
    CHECK(g.faults("reply_too_large") == 1);
    CHECK(eventually([&] { return g.find("a").status == lookup_status::found; }));
}

TEST_CASE("an ACL user with the documented rights can do all of it, and a password in the URL stays out of the log") {
    if (skipped()) return;
    redis_server server;
    server.command(acl);
    server.command({"ACL", "SETUSER", "default", "off"});
    gateway g("redis://idem:pa%20ss@127.0.0.1:" + std::to_string(server.port()));
    CHECK(g.put(sample("a", "one")).status == put_status::stored);
    CHECK(g.put(sample("a", "two")).status == put_status::lost);
    CHECK(g.put(sample("a", "two"), 2000, sample("a", "one")->fill).status == put_status::stored);
    CHECK(body_of(g.find("a").value) == "two");
    CHECK(g.write("r", "v", 0).status == record_status::ok);
    CHECK(g.erase("a") == erase_status::erased);

    gateway wrong("redis://idem:canary@127.0.0.1:" + std::to_string(server.port()));
    CHECK(wrong.find("a").status == lookup_status::failed);
    CHECK(wrong.faults("wrongpass") >= 1);
    CHECK(wrong.said("cache.redis.password"));
    CHECK_FALSE(wrong.said("canary"));
    CHECK(eventually([&] { return wrong.find("a").why == reason::store_open_breaker; }));

    gateway none(server.url());
    CHECK(none.find("a").status == lookup_status::failed);
    CHECK(none.faults("noauth") >= 1);
}

TEST_CASE("an ACL that forbids a name is said by name") {
    if (skipped()) return;
    redis_server server;
    server.command(acl);
    redis_options elsewhere = patient();
    elsewhere.prefix = "other:";
    gateway g("redis://idem:pa%20ss@127.0.0.1:" + std::to_string(server.port()), elsewhere);
    CHECK(g.find("a").status == lookup_status::failed);
    CHECK(g.faults("noperm") == 1);
}

TEST_CASE("Unix socket and database number") {
    if (skipped()) return;
    redis_server server({.arguments = {}, .unix_socket = true});
    gateway g("unix://" + server.socket_path() + "?db=3");
    CHECK(g.put(sample("a", "one")).status == put_status::stored);
    CHECK(g.find("a").status == lookup_status::found);
    CHECK(gateway(server.url()).find("a").status == lookup_status::absent);
    CHECK(gateway(server.url() + "/3").find("a").status == lookup_status::found);
}

TEST_CASE("TLS: verified by name, with a client certificate, and refused otherwise") {
    if (skipped()) return;
    redis_server server({.arguments = {}, .unix_socket = false, .tls = true});
    redis_options options = patient();
    options.tls.ca_file = server.authority().ca_file;
    options.tls.certificate_file = server.authority().client_certificate;
    options.tls.key_file = server.authority().client_key;
    const std::string port = ":" + std::to_string(server.tls_port());
    {
        gateway g("rediss://localhost" + port, options);
        const std::string body(1'000'000, 'x');
        CHECK(g.put(sample("a", body)).status == put_status::stored);
        const lookup l = g.find("a");
        REQUIRE(l.value);
        CHECK(body_of(l.value) == body);
    }
    const auto fails = [&](const std::string& url, const redis_options& o) {
        gateway g(url, o);
        const lookup l = g.find("a");
        CHECK(l.status == lookup_status::failed);
        return eventually([&] { return g.faults("connect_failed") + g.faults("closed") > 0; });
    };
    redis_options elsewhere = options;
    elsewhere.tls.server_name = "elsewhere.example";
    CHECK(fails("rediss://localhost" + port, elsewhere));
    redis_options stranger = options;
    stranger.tls.ca_file.clear();
    CHECK(fails("rediss://localhost" + port, stranger));
    redis_options nobody = options;
    nobody.tls.certificate_file.clear();
    nobody.tls.key_file.clear();
    CHECK(fails("rediss://localhost" + port, nobody));
    redis_options named = options;
    named.tls.server_name = "localhost";
    gateway by_name("rediss://127.0.0.1" + port, named);
    CHECK(by_name.find("a").status == lookup_status::found);
}

TEST_CASE("options that cannot work are refused with a sentence") {
    std::string error;
    redis_options o;
    o.at.host = "127.0.0.1";
    o.prefix = "a{b}";
    CHECK_FALSE(make_redis(o, error));
    CHECK(error.find("prefix") != std::string::npos);
    o.prefix = "idem:";
    o.at.by = cache::redis::address::transport::tls;
    o.tls.ca_file = "/nowhere/ca.crt";
    CHECK_FALSE(make_redis(o, error));
    CHECK(error.find("/nowhere/ca.crt") != std::string::npos);
}

TEST_CASE("a store that was never asked closes, and one that is closed answers") {
    std::string error;
    redis_options o;
    o.at.host = "127.0.0.1";
    o.at.port = 1;
    const auto unused = make_redis(o, error);
    unused->close();
    unused->close();
    io_thread io;
    CHECK(io.run(unused->find(sample_key("a"), 0)).status == lookup_status::failed);
    CHECK(io.run(unused->find(sample_key("a"), 0)).why == reason::store_unavailable);
}
