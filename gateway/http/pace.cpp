#include "gateway/http/pace.hpp"

#include <algorithm>

namespace idem::gateway::http {

net::time_point pace::wait(net::time_point now, const server_limits& limits) noexcept {
    since_ = now;
    net::duration left = std::min(limits.body_idle, limits.body_total - waited_);
    if (limits.body_min_rate > 0) {
        const auto earned = std::chrono::seconds(bytes_ / limits.body_min_rate);
        left = std::min<net::duration>(left, limits.body_grace + earned - waited_);
    }
    return now + std::max(left, net::duration::zero());
}

void pace::arrived(net::time_point now, std::size_t bytes) noexcept {
    waited_ += now - since_;
    bytes_ += bytes;
}

}  // namespace idem::gateway::http
