#pragma once
// A set of keys that may say "perhaps" for one it does not hold, and never "no" for one it does: a split-block Bloom
// filter (Putze, Sanders, Singler: "Cache-, Hash- and Space-Efficient Bloom Filters", 2007; the block layout of Apache
// Parquet). One look-up touches one block of 32 bytes. Keys are SHA-256 already, so their own bits serve as hashes.
//
// add() and may_hold() from any thread. clear() leaves a moment in which a key seems absent: its caller must keep
// readers from believing what they read meanwhile.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "cache/request/key.hpp"

namespace idem::cache {

class key_filter {
public:
    /// Sized for `expected` keys at about 12 bits each; the memory is used as blocks are touched.
    explicit key_filter(std::size_t expected);
    void add(const cache_key& key) noexcept;
    [[nodiscard]] bool may_hold(const cache_key& key) const noexcept;
    void clear() noexcept;
    /// Keys it was sized for.
    [[nodiscard]] std::size_t expected() const noexcept { return expected_; }

private:
    struct block {
        std::uint32_t words[8];
    };
    struct release {
        void operator()(block* b) const noexcept;
    };

    const std::size_t expected_;
    const std::size_t mask_;
    const std::unique_ptr<block[], release> blocks_;
};

}  // namespace idem::cache
