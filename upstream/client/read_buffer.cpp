#include "upstream/client/read_buffer.hpp"

#include <cstring>

namespace idem::upstream::client {

boost::asio::mutable_buffer read_buffer::space() {
    if (begin_ == end_) begin_ = end_ = 0;
    const bool grow = capacity_ == 0 || (capacity_ < large && (filled_ || (begin_ == 0 && end_ == capacity_)));
    if (grow) {
        const std::size_t wanted = capacity_ == 0 ? small : large;
        auto block = std::make_unique_for_overwrite<char[]>(wanted);
        if (end_ > begin_) std::memcpy(block.get(), data_.get() + begin_, end_ - begin_);
        data_ = std::move(block);
        capacity_ = wanted;
        end_ -= begin_;
        begin_ = 0;
    } else if (begin_ > 0 && end_ == capacity_) {
        std::memmove(data_.get(), data_.get() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    return {data_.get() + end_, capacity_ - end_};
}

void read_buffer::commit(std::size_t n) noexcept {
    filled_ = n == capacity_ - end_;
    end_ += n;
}

void read_buffer::reset() noexcept {
    begin_ = end_ = 0;
    filled_ = false;
    if (capacity_ > small) {
        data_.reset();
        capacity_ = 0;
    }
}

}  // namespace idem::upstream::client
