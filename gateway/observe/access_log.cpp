#include "gateway/observe/access_log.hpp"

#include <array>

#include "gateway/observe/access_line.hpp"
#include "gateway/observe/line_writer.hpp"

namespace idem::gateway::observe {

namespace {

constexpr unsigned most_threads = 1024;
constexpr std::size_t block_bytes = 32 * 1024, queue_bytes = 8 << 20;

// Of one I/O thread; lines of different threads never share a cache line.
struct alignas(128) lane {
    std::string block;
    std::uint64_t lines = 0;
    clock_text clock;
};

}  // namespace

struct access_log::impl {
    explicit impl(int fd) : writer(fd, queue_bytes) {}
    std::array<std::unique_ptr<lane>, most_threads> lanes;  // each slot is touched by its own thread only
    line_writer writer;

    void hand_over(lane& l) {
        writer.take(l.block, l.lines);
        l.lines = 0;
        if (l.block.capacity() < block_bytes) l.block.reserve(block_bytes + 4096);
    }
};

access_log::access_log(bool enabled, int fd) : impl_(enabled ? std::make_unique<impl>(fd) : nullptr) {}

access_log::~access_log() {
    if (impl_ == nullptr) return;
    for (auto& l : impl_->lanes) {
        if (l != nullptr) impl_->hand_over(*l);
    }
}

void access_log::log(unsigned thread, const access_record& r) noexcept {
    if (impl_ == nullptr || thread >= most_threads) return;
    auto& slot = impl_->lanes[thread];
    if (slot == nullptr) {
        slot = std::make_unique<lane>();
        slot->block.reserve(block_bytes + 4096);
    }
    append_access_line(slot->block, r, slot->clock);
    ++slot->lines;
    if (slot->block.size() >= block_bytes) impl_->hand_over(*slot);
}

void access_log::flush(unsigned thread) noexcept {
    if (impl_ == nullptr || thread >= most_threads || impl_->lanes[thread] == nullptr) return;
    impl_->hand_over(*impl_->lanes[thread]);
}

std::uint64_t access_log::dropped() const noexcept {
    return impl_ == nullptr ? 0 : impl_->writer.dropped();
}

}  // namespace idem::gateway::observe
