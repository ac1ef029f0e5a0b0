#include "gateway/app/lease_keeper.hpp"

#include "gateway/observe/log.hpp"
#include "gateway/pipeline/running_calls.hpp"

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

route::lease_turns::past past_of(cache::lease_past before) noexcept {
    switch (before) {
        case cache::lease_past::unknown:
            return route::lease_turns::past::unknown;
        case cache::lease_past::lapsed:
            return route::lease_turns::past::lapsed;
        default:
            return route::lease_turns::past::settled;
    }
}

const std::string& replica_of(const kept_lease& what) {
    return what.of->settings->replicas[what.replica].id;
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
                     "upstream " + what.of->settings->name + ", replica " + replica_of(what) +
                         ": calls go on without the lease (" + std::string(cause) +
                         "); their answers are not kept as strict ones");
    }

private:
    std::uint64_t seen_ = 0;
    net::time_point quiet_until_{};
};

std::string lease_name(const kept_lease& what) {
    return "slot:" + what.of->settings->name + "/" + replica_of(what);
}

// Until it is cancelled.
net::task<void> keep_lease(kept_lease what, std::shared_ptr<net::event> changed, upstream::client::pool& connections) {
    using step = route::lease_turns::step;
    const route::lease_rules rules = what.of->concurrency.lease;
    route::slots& slots = what.health->slots;
    route::lease_turns turns(rules);
    lapse_log log;
    const std::string name = lease_name(what);
    const auto length = std::chrono::duration_cast<std::chrono::milliseconds>(rules.length);
    for (;;) {
        const net::time_point now = net::clock::now();
        const route::lease_turns::action todo = turns.next(slots.demand(what.replica), now);
        slots.set_gate(what.replica, turns.state());
        log.hear(what, turns.state(), reason::none);
        switch (todo.what) {
            case step::wait:
                (void)co_await changed->wait(todo.until, net::precision::fine);
                break;
            case step::look: {
                const auto running =
                    co_await pipeline::running_calls(connections, *what.of, *what.health, what.replica);
                const net::time_point told = net::clock::now();
                turns.looked(running ? std::optional(*running == 0) : std::nullopt, told);
                if (turns.take_doubt()) slots.doubt(what.replica, told + what.of->timeouts.total);
                break;
            }
            case step::give_back: {
                if (slots.demand(what.replica).in_flight > 0) break;  // it began before the gate was shut
                std::string given = name;
                const bool settled = slots.settled(what.replica, now);
                (void)co_await what.store->release(std::move(given), what.holder, settled);
                turns.given_back(net::clock::now());
                break;
            }
            case step::ask: {
                std::string wanted = name;
                const cache::lease_result got = co_await what.store->lease(std::move(wanted), what.holder, length);
                turns.answered(answer_of(got.status), got.wanted, now, net::clock::now(), past_of(got.before));
                slots.set_gate(what.replica, turns.state());
                log.hear(what, turns.state(), got.why);
                break;
            }
        }
    }
}

}  // namespace

lease_keepers::lease_keepers(net::executor on) : on_(on), connections_(on), tasks_(on, observe::log_escape) {}

void lease_keepers::keep(kept_lease what) {
    auto changed = std::make_shared<net::event>(on_);
    what.health->slots.keep(what.replica, changed);
    kept_.push_back(what);
    tasks_.spawn(keep_lease(what, std::move(changed), connections_));
}

net::task<void> lease_keepers::end() {
    tasks_.cancel();
    (void)co_await tasks_.join();
    connections_.drain();
    for (const kept_lease& what : kept_) {
        route::slots& slots = what.health->slots;
        const bool settled = slots.settled(what.replica, net::clock::now());
        slots.set_gate(what.replica, {});
        if (slots.in_flight(what.replica) > 0) continue;  // it lapses when the call has ended, or soon after
        std::string name = lease_name(what);
        (void)co_await what.store->release(std::move(name), what.holder, settled);
    }
}

}  // namespace idem::gateway::app
