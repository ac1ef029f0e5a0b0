#include "upstream/route/preference.hpp"

#include <algorithm>

namespace idem::upstream::route {

std::optional<std::uint32_t> preference::next() {
    if (given_ == 0) {
        const auto first = among_.best(request_, classes_);
        if (first) given_ = 1;
        return first;
    }
    if (order_.empty()) rank(request_, among_.candidates(), order_, classes_);
    if (given_ >= order_.size()) return std::nullopt;
    return order_[given_++];
}

bool preference::leaves_out() const noexcept {
    return std::ranges::find(classes_, unwanted) != classes_.end();
}

}  // namespace idem::upstream::route
