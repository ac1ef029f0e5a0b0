#pragma once
// What recording (metrics.cpp) and the text format (exposition.cpp) share.
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "gateway/observe/metrics.hpp"
#include "gateway/observe/shard.hpp"

namespace idem::gateway::observe {

struct provided {
    std::string name, help, type, labels;
    std::function<double()> read;
};

struct metrics::impl {
    explicit impl(unsigned threads) : shards(threads + 1) {}

    // Calls `f` on the shard of that thread; the last one is shared, so it is locked.
    template <class Function>
    void on_shard(unsigned thread, Function f) noexcept {
        if (thread + 1 < shards.size()) return f(shards[thread]);
        const std::lock_guard lock(shared_mutex);
        f(shards.back());
    }

    std::vector<detail::shard> shards;  // one a thread, and one for all other threads
    std::mutex shared_mutex;
    mutable std::mutex provided_mutex;
    std::vector<provided> provided_values;
};

}  // namespace idem::gateway::observe
