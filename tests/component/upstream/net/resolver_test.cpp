#include "upstream/net/resolver.hpp"

#include <doctest/doctest.h>

#include <atomic>

#include "upstream/net/task_group.hpp"

using namespace idem::upstream::net;
using namespace std::chrono_literals;

namespace {

/// A resolver whose name server can go away.
struct names {
    explicit names(address_lifetimes keep) : of(resolver_of(context.get_executor())) {
        of.use([this](const std::string&) { return look_up(); }, keep);
    }

    resolution look_up() {
        ++calls;
        if (away) return {{}, "away"};
        return {{asio::ip::make_address("127.0.0.9")}, {}};
    }
    static task<void> into(resolver& from, std::string host, resolution& out) {
        const bool never = false;
        out = co_await from.resolve(std::move(host), time_point::max(), never);
    }
    resolution ask(const char* host) {
        resolution out;
        group.spawn(into(of, host, out));
        run();
        return out;
    }
    void run() {
        context.run();
        context.restart();
    }

    asio::io_context context{1};
    resolver& of;
    task_group group{context.get_executor(), nullptr};
    std::atomic<bool> away{false};
    std::atomic<int> calls{0};
};

constexpr address_lifetimes asked_each_time{.good = 0s, .bad = 0s};

}  // namespace

TEST_CASE("one look-up serves all who ask for a name, and those who ask soon after") {
    names n({});
    resolution one, two;
    n.group.spawn(names::into(n.of, "a.test", one));
    n.group.spawn(names::into(n.of, "a.test", two));
    n.run();
    CHECK(one.addresses.size() == 1);
    CHECK(two.addresses == one.addresses);
    CHECK(n.ask("a.test").addresses == one.addresses);
    CHECK(n.calls == 1);
}

TEST_CASE("the last good addresses serve while the name server is away") {
    names n(asked_each_time);
    const resolution before = n.ask("a.test");
    REQUIRE(before.addresses.size() == 1);
    n.away = true;
    const resolution during = n.ask("a.test");
    CHECK(n.calls == 2);  // it was asked, in vain
    CHECK(during.addresses == before.addresses);
    CHECK(during.error.empty());
    CHECK(n.ask("b.test").error == "away");
}

TEST_CASE("localhost is this machine where no name service knows it") {
    names n({});
    n.away = true;
    for (const char* host : {"localhost", "LOCALHOST.", "app.localhost"}) {
        CAPTURE(host);
        const resolution found = n.ask(host);
        REQUIRE(found.addresses.size() == 2);
        CHECK(found.addresses[0].is_loopback());
        CHECK(found.addresses[1].is_loopback());
        CHECK(found.error.empty());
    }
    for (const char* host : {"notlocalhost", "localhost.example"}) CHECK(n.ask(host).error == "away");
}

TEST_CASE("addresses that are too old do not serve while the name server is away") {
    address_lifetimes keep = asked_each_time;
    keep.stale = -1s;
    names n(keep);
    REQUIRE(n.ask("a.test").addresses.size() == 1);
    n.away = true;
    const resolution during = n.ask("a.test");
    CHECK(during.addresses.empty());
    CHECK(during.error == "away");
    n.away = false;
    CHECK(n.ask("a.test").addresses.size() == 1);
}
