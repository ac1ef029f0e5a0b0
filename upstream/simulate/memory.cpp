#include "upstream/simulate/memory.hpp"

namespace idem::upstream::simulate {
namespace {

constexpr std::size_t most = 65536;

}  // namespace

bool engine_memory::keep(std::uint64_t prompt) {
    const std::scoped_lock lock(mutex_);
    if (prompts_.size() >= most) prompts_.clear();
    return !prompts_.insert(prompt).second;
}

void engine_memory::forget() {
    const std::scoped_lock lock(mutex_);
    prompts_.clear();
}

}  // namespace idem::upstream::simulate
