#include "upstream/determinism/prompt_memory.hpp"

#include <utility>

namespace idem::upstream::determinism {

bool prompt_memory::same(const digest& request, std::uint64_t tokens) {
    const std::lock_guard lock(mutex_);
    const auto [at, fresh] = tokens_.try_emplace(request, tokens);
    if (!fresh) return std::exchange(at->second, tokens) == tokens;
    order_.push_back(request);
    if (order_.size() > most_) {
        tokens_.erase(order_.front());
        order_.pop_front();
    }
    return true;
}

bool prompt_memory::fits(const digest& request, std::uint64_t tokens) const {
    const std::lock_guard lock(mutex_);
    const auto at = tokens_.find(request);
    return at == tokens_.end() || at->second == tokens;
}

}  // namespace idem::upstream::determinism
