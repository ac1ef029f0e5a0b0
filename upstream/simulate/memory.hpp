#pragma once
// What requests leave behind in a simulated engine: the prompts that it keeps, and the state of its one generator.
// Thread-safe; shared by all sessions.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_set>

namespace idem::upstream::simulate {

class engine_memory {
public:
    /// Whether it was kept already; from now on it is. Forgets all when too many are kept.
    [[nodiscard]] bool keep(std::uint64_t prompt);
    void forget();
    /// The generator's next number; the first is the same in every process.
    [[nodiscard]] std::uint64_t draw() noexcept { return drawn_.fetch_add(1, std::memory_order_relaxed); }

private:
    std::mutex mutex_;
    std::unordered_set<std::uint64_t> prompts_;
    std::atomic<std::uint64_t> drawn_{0};
};

}  // namespace idem::upstream::simulate
