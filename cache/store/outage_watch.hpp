#pragma once
// What the memory tier needs to know of a second tier that may go away and come back with something missing. Written by
// the store, read by every thread.
#include <atomic>
#include <cstdint>

namespace idem::cache {

struct outage_watch {
    /// Grows with each time that the store was lost. What was confirmed by it before may be missing there since.
    std::atomic<std::uint64_t> count{1};
    /// It is not asked at the moment.
    std::atomic<bool> away{false};
};

}  // namespace idem::cache
