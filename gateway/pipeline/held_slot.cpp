#include "gateway/pipeline/held_slot.hpp"

#include "gateway/pipeline/running_calls.hpp"
#include "upstream/route/idle_looks.hpp"

namespace idem::gateway::pipeline {

namespace {

namespace route = upstream::route;

net::task<void> settle(services& at, const upstream_plan& to, route::slot held) {
    upstream_health& health = *at.common.health[to.index];
    const net::time_point began = net::clock::now();
    route::idle_looks looks(began, to.concurrency.abort_grace);
    net::timer pause(at.on);
    while (const auto due = looks.next()) {
        pause.expires_at(*due);
        auto [ec] = co_await pause.async_wait(net::use_task);
        if (ec) co_return;
        const auto running = co_await running_calls(at.connections, to, health, held.replica());
        // The slot itself still counts among those in flight.
        const auto ended = running ? std::optional(*running < health.slots.in_flight(held.replica())) : std::nullopt;
        looks.looked(ended, net::clock::now());
    }
    if (!looks.idle()) health.slots.doubt(held.replica(), began + to.timeouts.total);
}

}  // namespace

held_slot& held_slot::operator=(held_slot&& from) noexcept {
    if (this == &from) return *this;
    end();
    at_ = from.at_;
    to_ = from.to_;
    held_ = std::move(from.held_);
    return *this;
}

void held_slot::end() noexcept {
    if (!held_) return;
    route::slots& slots = at_->common.health[to_->index]->slots;
    if (slots.unlimited()) return;
    if (at_->ending) {  // nobody is left to look: whoever has the replica next is told
        slots.doubt(held_.replica(), net::clock::now() + to_->timeouts.total);
        return;
    }
    at_->settling.spawn(settle(*at_, *to_, std::move(held_)));
}

}  // namespace idem::gateway::pipeline
