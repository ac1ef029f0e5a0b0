#include "cache/flight/byte_log.hpp"

#include <algorithm>
#include <cstring>

namespace idem::cache {
namespace {

// A block holds at least one upstream read; larger ones for longer answers keep the block list short.
constexpr std::size_t smallest_block = 4 * 1024;
constexpr std::size_t largest_block = 64 * 1024;

}  // namespace

void byte_log::append(std::string_view bytes) {
    while (!bytes.empty()) {
        if (blocks_.empty() || blocks_.back().used == blocks_.back().capacity) {
            const std::size_t wanted = std::max<std::size_t>(bytes.size(), static_cast<std::size_t>(size_));
            const std::size_t capacity = std::clamp(wanted, smallest_block, largest_block);
            blocks_.push_back({size_, capacity, 0, std::make_unique_for_overwrite<char[]>(capacity)});
        }
        block& last = blocks_.back();
        const std::size_t n = std::min(bytes.size(), last.capacity - last.used);
        std::memcpy(last.data.get() + last.used, bytes.data(), n);
        last.used += n;
        size_ += n;
        bytes.remove_prefix(n);
    }
}

std::string_view byte_log::at(std::uint64_t offset, std::uint64_t limit) const noexcept {
    limit = std::min(limit, size_);
    if (offset >= limit) return {};
    auto after = std::upper_bound(blocks_.begin(), blocks_.end(), offset,
                                  [](std::uint64_t o, const block& b) { return o < b.offset; });
    const block& b = *std::prev(after);
    const auto from = static_cast<std::size_t>(offset - b.offset);
    const auto to = static_cast<std::size_t>(std::min<std::uint64_t>(limit - b.offset, b.used));
    return {b.data.get() + from, to - from};
}

void byte_log::release_before(std::uint64_t offset) noexcept {
    while (!blocks_.empty() && blocks_.front().offset + blocks_.front().used <= offset &&
           blocks_.front().used == blocks_.front().capacity) {
        blocks_.pop_front();
    }
}

std::string byte_log::join() const {
    std::string out;
    out.reserve(static_cast<std::size_t>(size_ - start()));
    for (const block& b : blocks_) out.append(b.data.get(), b.used);
    return out;
}

}  // namespace idem::cache
