#include "upstream/net/read_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace idem::upstream::net {

boost::asio::mutable_buffer read_buffer::prepare(std::size_t n) {
    if (empty()) begin_ = end_ = 0;
    if (capacity_ - end_ < n) {
        const std::size_t needed = size() + n;
        if (needed <= capacity_ && capacity_ > 0) {
            std::memmove(bytes_.get(), bytes_.get() + begin_, size());
            end_ -= begin_;
            begin_ = 0;
        } else {
            move_to(std::max({needed, 2 * capacity_, idle_}));
        }
    }
    return {bytes_.get() + end_, capacity_ - end_};
}

void read_buffer::shrink() {
    if (capacity_ > idle_ && size() <= idle_) move_to(idle_);
}

void read_buffer::clear() noexcept {
    begin_ = end_ = 0;
    filled_ = false;
    if (capacity_ > idle_) {
        bytes_.reset();
        capacity_ = 0;
    }
}

void read_buffer::move_to(std::size_t capacity) {
    auto bytes = std::make_unique_for_overwrite<char[]>(capacity);
    const std::string_view unread = view();
    if (!unread.empty()) std::memcpy(bytes.get(), unread.data(), unread.size());
    end_ = unread.size();
    begin_ = 0;
    bytes_ = std::move(bytes);
    capacity_ = capacity;
}

}  // namespace idem::upstream::net
