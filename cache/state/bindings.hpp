#pragma once
// Which request each Idempotency-Key was first used for, in this process: where there is no second tier to share it.
// Bounded: beyond the cap the oldest go, and such a key counts as new. Any thread.
#include <cstddef>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "cache/store/store.hpp"

namespace idem::cache {

class bindings {
public:
    explicit bindings(std::size_t most = 65'536) : most_(most) {}
    /// Create-if-absent; yields what is bound. A binding past its `until` is absent.
    [[nodiscard]] digest bind(const binding& wanted, unix_ms now);

private:
    // SHA-256 spreads by itself.
    struct first_bytes {
        std::size_t operator()(const digest& d) const noexcept;
    };
    struct bound {
        digest value;
        unix_ms until;
    };
    const std::size_t most_;
    std::mutex mutex_;
    std::unordered_map<digest, bound, first_bytes> by_name_;
    std::deque<digest> order_;  // of first binding
};

}  // namespace idem::cache
