#include "upstream/net/address_memory.hpp"

#include <utility>

namespace idem::upstream::net {

void address_memory::learn(resolution result, time_point now) {
    if (!result.addresses.empty()) {
        last_ = std::move(result);
        good_at_ = now;
        fresh_until_ = now + keep_.good;
        return;
    }
    fresh_until_ = now + keep_.bad;
    if (last_.addresses.empty() || now - good_at_ > keep_.stale) last_ = std::move(result);
}

}  // namespace idem::upstream::net
