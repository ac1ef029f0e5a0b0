#include "cache/store/key_filter.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>

namespace idem::cache {
namespace {

constexpr std::size_t keys_per_block = 21;  // 256 bits at about 12 a key

std::uint64_t part(const cache_key& key, std::size_t at) noexcept {
    std::uint64_t value;
    std::memcpy(&value, key.value.bytes.data() + at, sizeof value);
    return value;
}

// Five bits choose the bit of each of the eight words.
std::uint32_t bit(std::uint64_t hash, int word) noexcept {
    return std::uint32_t{1} << (hash >> (5 * word) & 31);
}

std::size_t blocks_for(std::size_t keys) noexcept {
    return std::bit_ceil(std::max<std::size_t>(keys / keys_per_block, 1));
}

}  // namespace

void key_filter::release::operator()(block* b) const noexcept {
    std::free(b);
}

// calloc: large zeroed memory costs nothing until it is touched.
key_filter::key_filter(std::size_t expected)
    : expected_(expected),
      mask_(blocks_for(expected) - 1),
      blocks_(static_cast<block*>(std::calloc(mask_ + 1, sizeof(block)))) {
    if (blocks_ == nullptr) throw std::bad_alloc();
}

void key_filter::add(const cache_key& key) noexcept {
    block& b = blocks_[part(key, 8) & mask_];
    const std::uint64_t hash = part(key, 16);
    for (int i = 0; i < 8; ++i)
        std::atomic_ref<std::uint32_t>(b.words[i]).fetch_or(bit(hash, i), std::memory_order_relaxed);
}

bool key_filter::may_hold(const cache_key& key) const noexcept {
    block& b = blocks_[part(key, 8) & mask_];
    const std::uint64_t hash = part(key, 16);
    for (int i = 0; i < 8; ++i)
        if ((std::atomic_ref<std::uint32_t>(b.words[i]).load(std::memory_order_relaxed) & bit(hash, i)) == 0)
            return false;
    return true;
}

void key_filter::clear() noexcept {
    for (std::size_t i = 0; i <= mask_; ++i)
        for (auto& word : blocks_[i].words) std::atomic_ref<std::uint32_t>(word).store(0, std::memory_order_relaxed);
}

}  // namespace idem::cache
