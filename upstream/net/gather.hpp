#pragma once
// A few pieces of memory that go out as one write and shrink from the front. Views: whoever writes keeps the bytes
// alive. Never allocates.
#include <array>
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>

namespace idem::upstream::net {

class gather {
public:
    static constexpr std::size_t max_pieces = 5;

    gather() = default;
    gather(std::initializer_list<std::string_view> pieces) noexcept {
        for (const std::string_view piece : pieces) add(piece);
    }
    /// Empty pieces are left out. REQUIRES: fewer than max_pieces so far.
    void add(std::string_view piece) noexcept {
        if (!piece.empty()) pieces_[last_++] = {piece.data(), piece.size()};
    }
    [[nodiscard]] bool empty() const noexcept { return first_ == last_; }
    /// What is left, as a buffer sequence over this object.
    [[nodiscard]] std::span<const boost::asio::const_buffer> pieces() const noexcept {
        return std::span(pieces_).subspan(first_, last_ - first_);
    }
    /// At most `bytes` from the front: a write deadline is renewed after each slice, so that it bounds a stall and not
    /// the whole transfer.
    [[nodiscard]] gather front(std::size_t bytes) const noexcept;
    /// REQUIRES: no more bytes than are left.
    void consume(std::size_t bytes) noexcept;

private:
    std::array<boost::asio::const_buffer, max_pieces> pieces_{};
    std::size_t first_ = 0, last_ = 0;
};

}  // namespace idem::upstream::net
