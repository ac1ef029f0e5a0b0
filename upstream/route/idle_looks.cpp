#include "upstream/route/idle_looks.hpp"

#include <algorithm>

namespace idem::upstream::route {

namespace {

using namespace std::chrono_literals;

constexpr idle_looks::duration first_pause = 20ms, longest_pause = 500ms;
// An engine that is at work for so long works for others, or does not tell.
constexpr idle_looks::duration patience = 10s;

}  // namespace

idle_looks::idle_looks(time_point began, duration grace) noexcept
    : began_(began), grace_(grace), pause_(first_pause), next_(began + first_pause) {}

std::optional<idle_looks::time_point> idle_looks::next() const noexcept {
    return next_;
}

void idle_looks::looked(std::optional<bool> idle, time_point now) noexcept {
    told_ = idle.has_value();
    seen_ = idle.value_or(false) ? seen_ + 1 : 0;
    pause_ = std::min(2 * pause_, longest_pause);
    const bool over = seen_ == enough || now - began_ >= (told_ ? patience : grace_);
    next_ = over ? std::nullopt : std::optional(now + pause_);
}

}  // namespace idem::upstream::route
