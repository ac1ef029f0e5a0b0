#include "gateway/pipeline/held_slot.hpp"

#include <algorithm>

#include "upstream/client/fetch.hpp"
#include "upstream/engine/idle.hpp"

namespace idem::gateway::pipeline {

namespace {

using namespace std::chrono_literals;
namespace route = upstream::route;

constexpr net::duration first_look = 20ms, longest_pause = 500ms;
constexpr net::duration answer_within = 2s;
constexpr std::size_t longest_answer = std::size_t{1} << 20;
// An engine that is at work for so long after an abort works for others, or does not tell.
constexpr net::duration patience = 10s;

/// Whether the engine has ended the call that held this slot: nullopt where it does not say.
net::task<std::optional<bool>> ended(services& at, const upstream_plan& to, std::size_t replica) {
    const auto* probe = upstream::engine::idle_probe_of(to.settings->engine);
    if (!probe) co_return std::nullopt;
    upstream_health& health = *at.common.health[to.index];
    const upstream::client::target server = upstream::client::beside_api(to.settings->replicas[replica].at);
    upstream::client::outgoing question;
    question.method = "GET";
    question.headers.add("Accept-Encoding", "identity");
    health.credential.add_to(question.headers, net::clock::now());
    const upstream::client::fetched got = co_await upstream::client::fetch(
        at.connections, server, {answer_within, answer_within, answer_within, answer_within}, std::move(question),
        std::string(probe->path), {}, longest_answer);
    const auto running = !got.broke && got.status == 200 ? probe->running(got.body) : std::nullopt;
    if (!running) co_return std::nullopt;
    // The slot itself still counts among those in flight.
    co_return *running < health.slots.in_flight(replica);
}

// Two looks say so, one after the other: a call that was sent in the last moment may not have reached the engine at the
// first.
net::task<void> settle(services& at, const upstream_plan& to, route::slot held) {
    const net::time_point began = net::clock::now();
    net::timer pause(at.on);
    net::duration next = first_look;
    int seen = 0;
    bool told = true;
    while (seen < 2) {
        const net::duration waited = net::clock::now() - began;
        if (waited >= (told ? patience : net::duration(to.concurrency.abort_grace))) break;
        pause.expires_after(next);
        auto [ec] = co_await pause.async_wait(net::use_task);
        if (ec) co_return;
        next = std::min(2 * next, longest_pause);
        const std::optional<bool> over = co_await ended(at, to, held.replica());
        told = over.has_value();
        seen = over.value_or(false) ? seen + 1 : 0;
    }
    if (seen < 2) at.common.health[to.index]->slots.doubt(held.replica(), began + to.timeouts.total);
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
    // At the end of the thread nobody is left to wait.
    if (!held_ || at_->ending || at_->common.health[to_->index]->slots.unlimited()) return;
    at_->settling.spawn(settle(*at_, *to_, std::move(held_)));
}

}  // namespace idem::gateway::pipeline
