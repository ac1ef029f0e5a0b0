#include "cache/state/epochs.hpp"

namespace idem::cache {

void epochs::set(std::size_t upstream, const epoch_record& record) {
    const std::scoped_lock lock(mutex_);
    if (records_[upstream] == record) return;
    records_[upstream] = record;
    generation_.fetch_add(1, std::memory_order_release);
}

std::optional<epoch_record> epochs::get(std::size_t upstream) const {
    const std::scoped_lock lock(mutex_);
    return records_[upstream];
}

void epochs::note(std::size_t upstream, reason trouble) {
    const std::scoped_lock lock(mutex_);
    troubles_[upstream] = trouble;
}

reason epochs::trouble(std::size_t upstream) const {
    const std::scoped_lock lock(mutex_);
    return troubles_[upstream];
}

std::uint64_t epochs_view::refresh() {
    if (of_.generation() == seen_) return seen_;
    const std::scoped_lock lock(of_.mutex_);
    records_ = of_.records_;
    seen_ = of_.generation_.load(std::memory_order_relaxed);
    return seen_;
}

}  // namespace idem::cache
