#pragma once
// What was read from one connection and is not consumed yet: a window over one block. The caller bounds the growth
// through what it asks for. Views stay valid until the next prepare(), shrink() or clear(). One thread.
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <memory>
#include <string_view>

namespace idem::upstream::net {

class read_buffer {
public:
    /// The first block has `idle` bytes.
    explicit read_buffer(std::size_t idle) noexcept : idle_(idle) {}

    [[nodiscard]] std::string_view view() const noexcept { return {bytes_.get() + begin_, end_ - begin_}; }
    [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
    [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    void consume(std::size_t n) noexcept { begin_ += n; }
    void commit(std::size_t n) noexcept {
        filled_ = n == capacity_ - end_;
        end_ += n;
    }
    /// The last read took all the room there was: a larger block saves system calls.
    [[nodiscard]] bool filled() const noexcept { return filled_; }
    /// All free space behind the unread bytes, at least `n` bytes of it.
    [[nodiscard]] boost::asio::mutable_buffer prepare(std::size_t n);
    /// Back to the idle size, if what is unread fits.
    void shrink();
    /// Forgets what is unread and lets go of a block above the idle size.
    void clear() noexcept;

private:
    void move_to(std::size_t capacity);

    std::unique_ptr<char[]> bytes_;
    std::size_t idle_;
    std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
    bool filled_ = false;
};

}  // namespace idem::upstream::net
