#include "cache/state/bindings.hpp"

#include <cstring>

namespace idem::cache {

std::size_t bindings::first_bytes::operator()(const digest& d) const noexcept {
    std::size_t n;
    std::memcpy(&n, d.bytes.data(), sizeof n);
    return n;
}

digest bindings::bind(const binding& wanted, unix_ms now) {
    const std::scoped_lock lock(mutex_);
    const auto [at, made] = by_name_.try_emplace(wanted.name, bound{wanted.value, wanted.until});
    if (!made) {
        if (at->second.until <= now) at->second = {wanted.value, wanted.until};
        return at->second.value;
    }
    order_.push_back(wanted.name);
    if (order_.size() > most_) {
        by_name_.erase(order_.front());
        order_.pop_front();
    }
    return wanted.value;
}

}  // namespace idem::cache
