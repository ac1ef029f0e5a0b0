#include "upstream/net/gather.hpp"

#include <algorithm>

namespace idem::upstream::net {

gather gather::front(std::size_t bytes) const noexcept {
    gather out;
    for (const boost::asio::const_buffer& piece : pieces()) {
        const std::size_t n = std::min(bytes, piece.size());
        out.add({static_cast<const char*>(piece.data()), n});
        bytes -= n;
    }
    return out;
}

void gather::consume(std::size_t bytes) noexcept {
    while (bytes > 0) {
        boost::asio::const_buffer& piece = pieces_[first_];
        const std::size_t n = std::min(bytes, piece.size());
        piece += n;
        bytes -= n;
        if (piece.size() == 0) ++first_;
    }
}

}  // namespace idem::upstream::net
