#include "upstream/client/write_parts.hpp"

#include <algorithm>

namespace idem::upstream::client {

std::size_t total_size(const write_parts& parts) noexcept {
    std::size_t n = 0;
    for (const boost::asio::const_buffer& b : parts) n += b.size();
    return n;
}

void drop_front(write_parts& parts, std::size_t n) noexcept {
    for (boost::asio::const_buffer& b : parts) {
        const std::size_t here = std::min(n, b.size());
        b += here;
        n -= here;
    }
}

write_parts front(const write_parts& parts) noexcept {
    write_parts out;
    std::size_t room = write_slice;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        out[i] = boost::asio::buffer(parts[i], room);
        room -= out[i].size();
    }
    return out;
}

}  // namespace idem::upstream::client
