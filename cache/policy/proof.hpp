#pragma once
// Which credentials the upstream has lately accepted. Where answers are shared beyond one credential (scope `shared` or
// `header`) and credentials are passed through, only the upstream can say whether a credential is good, so a caller
// gets hits only after a success of his own; and in every scope a refused credential gets none until it succeeds again.
// One table an upstream. Any thread: sharded, each lock held for a few instructions. Bounded: the records least
// recently written give way. Time is an argument.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "upstream/base/digest.hpp"

namespace idem::cache {

class proof_table {
public:
    using time_point = std::chrono::steady_clock::time_point;  // the type only; nothing here reads a clock

    explicit proof_table(std::size_t capacity = 65'536, std::chrono::seconds lifetime = std::chrono::minutes(10));

    /// The upstream answered a call with this credential with success.
    void accepted(const digest& credential, time_point now);
    /// The upstream answered 401 or 403.
    void refused(const digest& credential, time_point now);

    /// It succeeded within the lifetime and was not refused since.
    [[nodiscard]] bool proven(const digest& credential, time_point now) const;
    /// It was refused and has not succeeded since.
    [[nodiscard]] bool closed(const digest& credential) const;
    [[nodiscard]] std::size_t size() const;

private:
    struct record {
        time_point written;
        bool good = false;
    };
    struct uniform_hash {
        std::size_t operator()(const digest& d) const noexcept {
            std::size_t h;
            __builtin_memcpy(&h, d.bytes.data() + 8, sizeof h);  // HMAC output; the first byte chooses the shard
            return h;
        }
    };
    struct shard {
        mutable std::mutex lock;
        std::unordered_map<digest, record, uniform_hash> records;
    };
    static constexpr std::size_t shard_count = 16;

    [[nodiscard]] const shard& shard_of(const digest& d) const noexcept { return shards_[d.bytes[0] % shard_count]; }
    void write(const digest& credential, record r);
    void make_room(shard& s);

    std::size_t shard_capacity_;
    std::chrono::seconds lifetime_;
    std::vector<shard> shards_;
    std::atomic<std::size_t> refusals_{0};  // records that are not good: while there are none, closed() takes no lock
};

}  // namespace idem::cache
