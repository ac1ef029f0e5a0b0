// The incident of March 2023 (CVE-2023-28858; redis-py's test_cwe_404.py): callers that leave while their reply is on
// its way must never make another caller get it.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <random>

#include "tests/component/cache/redis/fixture.hpp"

using namespace idem;
using namespace idem::cache;
using namespace idem::test;
using namespace std::chrono_literals;

namespace {

constexpr int keys = 32, together = 32, operations = 2000;

struct tally {
    int right = 0, failed = 0, noticed = 0, wrong = 0;
    [[nodiscard]] int all() const { return right + failed + noticed + wrong; }
};

net::task<> ask(store& s, int n, tally& t) {
    const lookup l = co_await s.find(sample_key("k" + std::to_string(n)), 2000);
    const bool mine = l.status == lookup_status::found && l.value->body == "answer " + std::to_string(n);
    int& kind = mine                                ? t.right
                : l.status == lookup_status::failed ? t.failed
                : l.status == lookup_status::dead   ? t.noticed
                                                    : t.wrong;
    ++kind;
}

// Many look-ups at a time; every second one is cancelled after a random while, like a client that resets.
net::task<tally> storm(net::executor on, store& s) {
    std::mt19937 random(404);
    tally t;
    struct flight {
        boost::asio::cancellation_signal stop;
        bool ended = false;
    };
    net::timer pause(on);
    for (int round = 0; round * together < operations; ++round) {
        std::vector<std::unique_ptr<flight>> flights;
        for (int i = 0; i < together; ++i) {
            flight& f = *flights.emplace_back(std::make_unique<flight>());
            auto done = [&f](std::exception_ptr) { f.ended = true; };
            boost::asio::co_spawn(on, ask(s, static_cast<int>(random() % keys), t),
                                  boost::asio::bind_cancellation_slot(f.stop.slot(), std::move(done)));
        }
        for (std::size_t i = 0; i < flights.size(); i += 2) {
            pause.expires_after(std::chrono::microseconds(random() % 500));
            co_await pause.async_wait(net::use_task);
            flights[i]->stop.emit(boost::asio::cancellation_type::terminal);
        }
        while (!std::ranges::all_of(flights, [](const auto& f) { return f->ended; })) {
            pause.expires_after(1ms);
            co_await pause.async_wait(net::use_task);
        }
    }
    co_return t;
}

void fill(const redis_server& server) {
    gateway g(server.url());
    for (int n = 0; n < keys; ++n) {
        REQUIRE(g.put(sample("k" + std::to_string(n), "answer " + std::to_string(n))).status == put_status::stored);
    }
}

}  // namespace

TEST_CASE("2,000 look-ups with delayed replies, half of them cancelled: nobody gets another one's answer") {
    if (skipped()) return;
    redis_server server;
    fill(server);
    fault_proxy proxy(server.port());
    proxy.delay(0ms, 15ms);
    gateway g(proxy.url());
    const tally t = g.io.run(storm(g.io.get_executor(), *g.store));
    CHECK(t.all() >= operations);
    CHECK(t.wrong == 0);
    CHECK(t.noticed == 0);
    CHECK(t.right > operations / 3);
    CHECK(g.faults("desync") + g.faults("stranger") == 0);
    CHECK(g.faults("unexpected_reply") == 0);
    proxy.delay(0ms, 0ms);
    CHECK(eventually([&] { return g.find("k1").status == lookup_status::found; }));
}

TEST_CASE("replies slower than the deadline: late ones die with their connection") {
    if (skipped()) return;
    redis_server server;
    fill(server);
    fault_proxy proxy(server.port());
    redis_options hasty = patient();
    hasty.deadline = 10ms;
    proxy.delay(0ms, 20ms);
    gateway g(proxy.url(), hasty);
    const tally t = g.io.run(storm(g.io.get_executor(), *g.store));
    CHECK(t.wrong == 0);
    CHECK(t.noticed == 0);
    CHECK(g.faults("timeout") > 0);
    proxy.delay(0ms, 0ms);
    CHECK(eventually([&] { return g.find("k1").status == lookup_status::found; }));
}

TEST_CASE("a reply that is dropped or doubled: noticed, the connection closed, nobody gets another one's answer") {
    if (skipped()) return;
    redis_server server;
    fill(server);
    for (const bool doubled : {true, false}) {
        CAPTURE(doubled);
        fault_proxy proxy(server.port());
        int n = 0;
        proxy.rewrite_replies([&n, doubled](std::string_view verb, std::string reply) {
            return verb != "GET" || ++n % 40 != 0 ? reply : doubled ? reply + reply : std::string();
        });
        redis_options options = patient();
        options.deadline = 50ms;  // a dropped reply is found by nothing else
        gateway g(proxy.url(), options);
        const tally t = g.io.run(storm(g.io.get_executor(), *g.store));
        CHECK(t.wrong == 0);
        CHECK(t.right > 0);
        CHECK(g.faults("desync") + g.faults("stranger") + g.faults("unexpected_reply") + g.faults("timeout") > 0);
        CHECK(proxy.accepted() > 2);
        proxy.rewrite_replies({});
        CHECK(eventually([&] { return g.find("k1").status == lookup_status::found; }));
    }
}
