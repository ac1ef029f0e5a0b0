#include "upstream/net/deadline.hpp"

namespace idem::upstream::net {
namespace {

constexpr duration coarse_tick = std::chrono::milliseconds(50);
constexpr duration fine_tick = std::chrono::milliseconds(2);

}  // namespace

deadline_queue::deadline_queue(asio::execution_context& context) : service(context) {
    const executor on = static_cast<asio::io_context&>(context).get_executor();
    coarse_.emplace(on, coarse_tick);
    fine_.emplace(on, fine_tick);
}

void deadline_queue::shutdown() {
    coarse_.reset();
    fine_.reset();
}

void deadline_queue::arm(deadline_node& node, time_point at, precision p) {
    std::optional<level>& chosen = p == precision::coarse ? coarse_ : fine_;
    if (!chosen) return;  // shut down: whoever waits is about to be destroyed
    level& of = *chosen;
    // An idle wheel stands still: bring it to the present, so that the timer is not set for the past.
    if (of.wheel.armed() == 0) of.wheel.advance(clock::now());
    of.wheel.arm(node, at);
    // Only ever earlier; a timer that fires with nothing due is set again then.
    if (!of.waking_at || at < *of.waking_at) schedule(of);
}

void deadline_queue::disarm(deadline_node& node) noexcept {
    deadline_wheel::disarm(node);
    // A pending timer keeps the context running. Fine waits are short and come in bursts: their timer just runs out.
    if (coarse_ && coarse_->wheel.armed() == 0 && coarse_->waking_at) {
        coarse_->waking_at.reset();
        coarse_->wake.cancel();
    }
}

void deadline_queue::schedule(level& of) {
    const auto look = of.wheel.next_look();
    if (!look || (of.waking_at && *of.waking_at <= *look)) return;
    of.waking_at = look;
    of.wake.expires_at(*look);
    of.wake.async_wait([this, &of](error_code ec) {
        if (!ec) woken(this, &of);
    });
}

void deadline_queue::woken(deadline_queue* self, level* of) {
    of->waking_at.reset();
    of->wheel.advance(clock::now());
    self->schedule(*of);
}

deadline_queue& deadlines_of(const executor& on) {
    return asio::use_service<deadline_queue>(on.context());
}

}  // namespace idem::upstream::net
