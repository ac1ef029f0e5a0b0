#include "gateway/app/lease_keeper.hpp"

#include "gateway/observe/log.hpp"

namespace idem::gateway::app {

namespace route = upstream::route;

namespace {

route::lease_turns::answer answer_of(cache::lease_status status) noexcept {
    switch (status) {
        case cache::lease_status::held:
            return route::lease_turns::answer::held;
        case cache::lease_status::taken:
            return route::lease_turns::answer::taken;
        default:
            return route::lease_turns::answer::failed;
    }
}

// A lapse lowers what strict answers promise: worth a line, at most once in ten seconds.
class lapse_log {
public:
    void hear(const kept_lease& what, const route::lease_turns::gate& now, reason why) {
        const bool more = now.lapses != seen_;
        seen_ = now.lapses;
        const net::time_point at = net::clock::now();
        if (!more || at < quiet_until_) return;
        quiet_until_ = at + std::chrono::seconds(10);
        const std::string_view cause = why == reason::none ? "it was not renewed in time" : to_string(why);
        observe::log(observe::level::warning, "lease_lapsed",
                     "upstream " + what.upstream + ", replica " + what.name + ": calls go on without the lease (" +
                         std::string(cause) + "); their answers are not kept as strict ones");
    }

private:
    std::uint64_t seen_ = 0;
    net::time_point quiet_until_{};
};

std::string lease_name(const kept_lease& what) {
    return "slot:" + what.upstream + "/" + what.name;
}

// Until it is cancelled.
net::task<void> keep_lease(kept_lease what, std::shared_ptr<net::event> changed) {
    route::lease_turns turns(what.rules);
    lapse_log log;
    const std::string name = lease_name(what);
    const auto length = std::chrono::duration_cast<std::chrono::milliseconds>(what.rules.length);
    for (;;) {
        const route::lease_turns::action todo = turns.next(what.of->demand(what.replica), net::clock::now());
        what.of->set_gate(what.replica, turns.state());
        log.hear(what, turns.state(), reason::none);
        if (todo.what == route::lease_turns::step::wait) {
            (void)co_await changed->wait(todo.until, net::precision::fine);
            continue;
        }
        const net::time_point asked = net::clock::now();
        if (todo.what == route::lease_turns::step::give_back) {
            if (what.of->demand(what.replica).in_flight > 0) continue;  // it began before the gate was shut
            std::string given = name;
            (void)co_await what.store->release(std::move(given), what.holder);
            turns.given_back(net::clock::now());
            continue;
        }
        std::string wanted = name;
        const cache::lease_result got = co_await what.store->lease(std::move(wanted), what.holder, length);
        turns.answered(answer_of(got.status), got.wanted, asked, net::clock::now());
        what.of->set_gate(what.replica, turns.state());
        log.hear(what, turns.state(), got.why);
    }
}

}  // namespace

lease_keepers::lease_keepers(net::executor on) : on_(on), tasks_(on, observe::log_escape) {}

void lease_keepers::keep(kept_lease what) {
    auto changed = std::make_shared<net::event>(on_);
    what.of->keep(what.replica, changed);
    kept_.push_back(what);
    tasks_.spawn(keep_lease(std::move(what), std::move(changed)));
}

net::task<void> lease_keepers::end() {
    tasks_.cancel();
    (void)co_await tasks_.join();
    for (const kept_lease& what : kept_) {
        what.of->set_gate(what.replica, {});
        if (what.of->in_flight(what.replica) > 0) continue;  // it lapses when the call has ended, or soon after
        std::string name = lease_name(what);
        (void)co_await what.store->release(std::move(name), what.holder);
    }
}

}  // namespace idem::gateway::app
