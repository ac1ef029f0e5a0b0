// The keeper of the state record beside a store that others write, too.
#include "gateway/app/state_keeper.hpp"

#include <doctest/doctest.h>

#include <boost/asio/co_spawn.hpp>

#include "cache/state/local_coordination.hpp"
#include "upstream/net/task_group.hpp"

using namespace idem;
using gateway::app::state_keeper;
namespace net = upstream::net;

namespace {

struct gateway_alone {
    net::asio::io_context io{1};
    cache::epochs epochs{1};
    cache::bans bans;
    state_keeper keeper;
    net::task_group tasks;

    explicit gateway_alone(cache::coordination& in)
        : keeper(io.get_executor(), in, true, {{"u", false}}, std::nullopt, epochs, bans),
          tasks(io.get_executor(), [](std::exception_ptr) {}) {
        tasks.spawn(keeper.run());
    }
    ~gateway_alone() {
        tasks.cancel();
        io.run_for(std::chrono::seconds(1));
    }
    gateway_alone(const gateway_alone&) = delete;
    gateway_alone& operator=(const gateway_alone&) = delete;
    // Until `done`, or for five seconds.
    bool until(const std::function<bool()>& done) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        while (!done() && std::chrono::steady_clock::now() < limit) io.run_for(std::chrono::milliseconds(20));
        return done();
    }
    state_keeper::changed change(std::function<std::string(cache::state_record&)> edit) {
        std::optional<state_keeper::changed> out;
        net::asio::co_spawn(io.get_executor(), keeper.change(std::move(edit)),
                            [&](std::exception_ptr, state_keeper::changed c) { out = std::move(c); });
        REQUIRE(until([&] { return out.has_value(); }));
        return *out;
    }
};

}  // namespace

TEST_CASE("an upstream that a new lineage lacks gets an epoch that it never had") {
    cache::local_coordination store;
    gateway_alone one(store);
    REQUIRE(one.until([&] { return one.epochs.get(0).has_value(); }));
    const auto before = *one.epochs.get(0);
    cache::state_record other = cache::begin_state(99, 1, std::nullopt);
    other.ancestors = {one.keeper.known()->lineage};
    REQUIRE(store.write("state", encode(other), store.read("state").version).status == cache::record_status::ok);
    REQUIRE(one.until([&] { return one.keeper.known()->lineage == 99 && one.epochs.get(0)->id != before.id; }));
    CHECK(cache::decode_state(store.read("state").value)->find("u")->current == one.epochs.get(0)->id);
    CHECK(one.bans.table()->mark() == cache::ban_mark(99, 0));
}

TEST_CASE("a change is made to what the store holds, and refused by name") {
    cache::local_coordination store;
    gateway_alone one(store), two(store);
    REQUIRE(one.until([&] { return one.epochs.get(0).has_value(); }));
    REQUIRE(two.until([&] { return two.epochs.get(0).has_value(); }));
    CHECK(one.epochs.get(0) == two.epochs.get(0));
    const auto ban = [](const char* tag) {
        return [tag](cache::state_record& r) {
            cache::add_ban(r, cache::ban_kind::tag, tag, false, 1);
            return std::string();
        };
    };
    CHECK(one.change(ban("a")).is == state_keeper::changed::status::done);
    CHECK(two.change(ban("b")).is == state_keeper::changed::status::done);  // which had not read the other's
    CHECK(two.keeper.known()->bans.size() == 2);
    CHECK(one.until([&] { return one.keeper.known()->bans.size() == 2; }));
    const auto refused = one.change([](cache::state_record&) { return std::string("no"); });
    CHECK(refused.is == state_keeper::changed::status::refused);
    CHECK(refused.detail == "no");
    CHECK(one.change([](cache::state_record& r) {
                 for (int i = 0; i < 4000; ++i)
                     cache::add_ban(r, cache::ban_kind::tag, std::string(100, 'x') + std::to_string(i), false, 1);
                 return std::string();
             })
              .detail.find("too many purges") != std::string::npos);
    CHECK(one.change(ban("c")).is == state_keeper::changed::status::done);
}
