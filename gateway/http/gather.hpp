#pragma once
// A few pieces of memory that go out as one write; a buffer sequence that shrinks from the front. Never allocates.
#include <array>
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <span>
#include <string_view>

namespace idem::gateway::http {

class gather {
public:
    static constexpr std::size_t max_pieces = 5;

    gather() = default;
    /// Empty pieces are left out.
    void add(std::string_view piece) noexcept {
        if (!piece.empty()) pieces_[last_++] = {piece.data(), piece.size()};
    }
    [[nodiscard]] bool empty() const noexcept { return first_ == last_; }
    [[nodiscard]] std::span<const boost::asio::const_buffer> pieces() const noexcept {
        return std::span(pieces_).subspan(first_, last_ - first_);
    }
    /// At most `bytes` from the front.
    [[nodiscard]] gather front(std::size_t bytes) const noexcept;
    void consume(std::size_t bytes) noexcept;

private:
    std::array<boost::asio::const_buffer, max_pieces> pieces_{};
    std::size_t first_ = 0, last_ = 0;
};

}  // namespace idem::gateway::http
