#pragma once
// The pieces of one gathered write: head, body, chunk end. Views; whoever writes keeps the bytes alive.
#include <array>
#include <boost/asio/buffer.hpp>
#include <cstddef>

namespace idem::upstream::client {

using write_parts = std::array<boost::asio::const_buffer, 3>;

/// A write deadline is renewed after each slice, so that it bounds a stall and not the whole transfer.
inline constexpr std::size_t write_slice = 256 * 1024;

[[nodiscard]] std::size_t total_size(const write_parts& parts) noexcept;
/// `n` bytes have been written.
void drop_front(write_parts& parts, std::size_t n) noexcept;
/// The first write_slice bytes.
[[nodiscard]] write_parts front(const write_parts& parts) noexcept;

}  // namespace idem::upstream::client
