#include "gateway/pipeline/quiet_watch.hpp"

namespace idem::gateway::pipeline {

namespace determinism = upstream::determinism;

namespace {

constexpr net::duration first_look = std::chrono::milliseconds(150);
constexpr net::duration next_look = std::chrono::milliseconds(100);

}  // namespace

quiet_watch::quiet_watch(const net::executor& on, determinism::roster& states, const std::optional<digest>& demanded,
                         live_exchange& live)
    : states_(states), demanded_(demanded), live_(live), due_(on, &quiet_watch::expired, this) {}

void quiet_watch::begin(std::size_t replica) {
    replica_ = replica;
    since_ = never;
    due_.arm(first_look);
}

void quiet_watch::sent() {
    since_ = net::clock::now();
    due_.arm(first_look);
}

void quiet_watch::expired(void* self) noexcept {
    auto& me = *static_cast<quiet_watch*>(self);
    const auto standings = me.states_.standings();
    const auto wants = me.demanded_ ? determinism::demand::admitted : determinism::demand::any;
    if (determinism::lost(me.replica_, *standings, wants, me.demanded_.value_or(digest{}))) {
        me.live_.lose();
        return;
    }
    me.states_.doubt(me.replica_, me.since_, net::clock::now());
    me.due_.arm(next_look);
}

}  // namespace idem::gateway::pipeline
