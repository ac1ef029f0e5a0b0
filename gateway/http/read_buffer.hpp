#pragma once
// What was read from one connection and is not consumed yet: contiguous, 8 KiB while idle, growing on demand. The
// caller bounds the growth through what it asks for. Views stay valid until the next prepare() or shrink().
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <memory>
#include <string_view>

namespace idem::gateway::http {

class read_buffer {
public:
    static constexpr std::size_t idle_bytes = 8 * 1024;

    [[nodiscard]] std::string_view view() const noexcept { return {bytes_.get() + begin_, end_ - begin_}; }
    [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
    [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    void consume(std::size_t n) noexcept { begin_ += n; }
    void commit(std::size_t n) noexcept { end_ += n; }
    /// All free space behind the unread bytes, at least `n` bytes of it.
    [[nodiscard]] boost::asio::mutable_buffer prepare(std::size_t n);
    /// Back to the idle size, if what is unread fits.
    void shrink();

private:
    void move_to(std::size_t capacity);

    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace idem::gateway::http
