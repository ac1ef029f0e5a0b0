// Whether a replica answers at all: looked at when calls that wait for it have no answer.
#include "gateway/replicas/keeper.hpp"
#include "gateway/replicas/keeper_seat.hpp"

namespace idem::gateway::replicas {

namespace {

/// In a row without an answer: the replica is down; a gateway that leaves the watching to another one says so.
constexpr unsigned enough_silences = 3;

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
    }
}

void keeper::heard(seat& s, const determinism::prober::health& h) {
    states_.hear(s.index, h.reached);
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
