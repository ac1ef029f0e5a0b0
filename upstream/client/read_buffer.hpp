#pragma once
// Bytes that were read and not yet used: a window over one block that grows from 16 to 64 KiB and no further. Views
// stay valid until the next space(). One thread.
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <memory>
#include <string_view>

namespace idem::upstream::client {

class read_buffer {
public:
    static constexpr std::size_t small = 16 * 1024;
    static constexpr std::size_t large = 64 * 1024;

    [[nodiscard]] std::string_view unread() const noexcept { return {data_.get() + begin_, end_ - begin_}; }
    void consume(std::size_t n) noexcept { begin_ += n; }
    /// Where the next read goes; moves or grows the block if it must. Empty when 64 KiB are unread.
    [[nodiscard]] boost::asio::mutable_buffer space();
    void commit(std::size_t n) noexcept;
    /// Forgets what is unread and lets go of a large block.
    void reset() noexcept;

private:
    std::unique_ptr<char[]> data_;
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    bool filled_ = false;  // the last read took all there was room for: a larger block saves system calls
};

}  // namespace idem::upstream::client
