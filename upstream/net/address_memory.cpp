#include "upstream/net/address_memory.hpp"

#include <algorithm>
#include <utility>

namespace idem::upstream::net {

void address_memory::learn(resolution result, time_point now) {
    if (!result.addresses.empty()) {
        last_ = std::move(result);
        sort();
        good_at_ = now;
        fresh_until_ = now + keep_.good;
        return;
    }
    fresh_until_ = now + keep_.bad;
    if (last_.addresses.empty() || now - good_at_ > keep_.stale) last_ = std::move(result);
}

void address_memory::prefer(const boost::asio::ip::address& good) {
    preferred_ = good;
    sort();
}

void address_memory::sort() {
    const auto at = std::ranges::find(last_.addresses, preferred_);
    if (at != last_.addresses.end()) std::rotate(last_.addresses.begin(), at, at + 1);
}

}  // namespace idem::upstream::net
