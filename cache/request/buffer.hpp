#pragma once
// A byte buffer that grows without clearing what it grows by. For one owner; not thread-safe.
#include <cstddef>
#include <cstring>
#include <memory>

namespace idem::cache::detail {

class buffer {
public:
    [[nodiscard]] char* data() noexcept { return bytes_.get(); }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

    /// At least `wanted` bytes; the first `kept` of them survive.
    void reserve(std::size_t wanted, std::size_t kept) {
        if (wanted <= capacity_) return;
        auto larger = std::make_unique_for_overwrite<char[]>(wanted);
        if (kept) std::memcpy(larger.get(), bytes_.get(), kept);
        bytes_ = std::move(larger);
        capacity_ = wanted;
    }

    void release() noexcept {
        bytes_.reset();
        capacity_ = 0;
    }

private:
    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_ = 0;
};

}  // namespace idem::cache::detail
