// Whether a replica answers at all: looked at when calls that wait for it have no answer.
#include "gateway/observe/log.hpp"
#include "gateway/replicas/keeper.hpp"
#include "gateway/replicas/keeper_seat.hpp"

namespace idem::gateway::replicas {

namespace {

/// In a row without an answer: the replica is down; a gateway that leaves the watching to another one says so.
constexpr unsigned enough_silences = 3;
/// In a row, so far apart, in which an engine works on nothing although calls wait for it: who took them is not the
/// engine. A server may read and tokenise a long prompt for a moment before its engine hears of it.
constexpr unsigned enough_idle = 4;
constexpr net::duration between_idle = std::chrono::milliseconds(250);
/// For so long others are asked instead.
constexpr net::duration deaf_for = std::chrono::seconds(2);

}  // namespace

net::duration keeper::health_patience() const noexcept {
    return pool_.admission.health_timeout;
}

// Whatever else is going on: a call waits, and either its replica says that it lives, or the call has to know. Golden
// prompts may be what waits, so this is a task of its own.
net::task<void> keeper::listen(seat& s) {
    for (;;) {
        while (!s.doubted) {
            const bool woken = co_await s.listener->wait(net::clock::now() + pool_.admission.health_interval);
            if (!woken && s.attesting) break;
        }
        do {
            s.doubted = false;
            states_.looked(s.index, net::clock::now());
            const auto h = co_await s.ask.check_health(false, health_patience());
            heard(s, h);
            if (s.silences == 0) break;
            [[maybe_unused]] const bool woken = co_await s.listener->wait(net::clock::now() + health_patience());
        } while (s.silences > 0 && s.silences < enough_silences);  // from then on it is looked at in the usual way
        const bool deaf = s.silences == 0 && co_await hears_nothing(s);
        if (!deaf) continue;
        s.deaf_until = net::clock::now() + deaf_for;
        states_.hear(s.index, false);
        observe::log(observe::level::warning, "replica_deaf",
                     "upstream " + pool_.name + " replica " + s.replica.id +
                         ": its health endpoint answers, and its engine works on nothing while calls wait for it");
    }
}

// Where the engine can be asked: whether it knows of no call although some wait for its first byte.
net::task<bool> keeper::hears_nothing(seat& s) {
    for (unsigned looks = 0;;) {
        if (around_.in_flight(s.index) == 0) co_return false;
        const auto running = co_await around_.running(s.connections, s.index);
        if (running != 0 || around_.in_flight(s.index) == 0) co_return false;
        if (++looks == enough_idle) co_return true;
        // Calls that go on waiting go on doubting; one that was answered does not.
        s.doubted = false;
        states_.looked(s.index, net::time_point{});
        const net::time_point next = net::clock::now() + between_idle;
        while (net::clock::now() < next) (void)co_await s.listener->wait(next);
        if (!s.doubted) co_return false;
    }
}

void keeper::heard(seat& s, const determinism::prober::health& h) {
    states_.hear(s.index, h.reached && net::clock::now() >= s.deaf_until);
    s.silences = h.reached ? 0 : s.silences + 1;
    if (!s.watching) {
        if (s.silences != enough_silences) return;
        s.suspected = true;
        s.suspected_at = unix_ms();
        s.wake->notify();
        return;
    }
    const bool was_down = s.watch.state() == determinism::replica_state::down;
    s.watch.health(h.reached, h.good, h.detail, net::clock::now());
    if ((s.watch.state() == determinism::replica_state::down) == was_down) return;
    show(s, finding_of(s).now);
    if (!was_down) s.ask.give_up();
    s.wake->notify();
}

}  // namespace idem::gateway::replicas
