#pragma once
// An append-only log of bytes in blocks that never move: a reader that holds a view keeps it valid while the block
// lives. Old blocks can be let go from the front, which turns the log into a sliding window. Not synchronised: flight
// guards it.
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace idem::cache {

class byte_log {
public:
    void append(std::string_view bytes);
    /// Bytes from `offset` to the end of their block, at most to `limit`; empty at the end. REQUIRES offset >= start().
    [[nodiscard]] std::string_view at(std::uint64_t offset, std::uint64_t limit) const noexcept;
    /// Lets go of whole blocks that end at or before `offset`.
    void release_before(std::uint64_t offset) noexcept;
    [[nodiscard]] std::uint64_t start() const noexcept { return blocks_.empty() ? size_ : blocks_.front().offset; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    /// All bytes still held, in one string.
    [[nodiscard]] std::string join() const;

private:
    struct block {
        std::uint64_t offset;
        std::size_t capacity;
        std::size_t used;
        std::unique_ptr<char[]> data;
    };
    std::deque<block> blocks_;
    std::uint64_t size_ = 0;
};

}  // namespace idem::cache
