#include "cache/request/reorder.hpp"

#include <cstring>

namespace idem::cache::detail {

void reorder::clear() noexcept {
    records_.clear();
    members_.clear();
}

void reorder::release() noexcept {
    records_ = {};
    members_ = {};
}

void reorder::drop(std::uint32_t from) noexcept {
    if (from >= records_.size()) return;
    members_.resize(records_[from].first_member);
    records_.resize(from);
}

void reorder::object(std::uint32_t begin, std::uint32_t end, std::uint32_t first_record) {
    const auto at = static_cast<std::uint32_t>(members_.size());
    records_.push_back({begin, end, first_record, at, at});
}

void reorder::place(const member_range& member) {
    members_.push_back(member);
    records_.back().last_member = static_cast<std::uint32_t>(members_.size());
}

void reorder::write(std::string_view text, char* out) const noexcept {
    static_cast<void>(
        write_backwards(text.data(), {0, static_cast<std::uint32_t>(text.size()), 0, records()}, out + text.size()));
}

// Backwards, because innermost first is the order of closing: the last record of a range is its last outermost object,
// and what lies before that object's own records is the one before. Depth is bounded by the nesting of the document.
char* reorder::write_backwards(const char* text, const member_range& range, char* end) const noexcept {
    const auto copy = [&](std::uint32_t from, std::uint32_t to) {
        end -= to - from;
        std::memcpy(end, text + from, to - from);
    };
    std::uint32_t to = range.end;
    for (std::uint32_t r = range.last_record; r > range.first_record;) {
        const record& object = records_[r - 1];
        copy(object.end, to);
        *--end = '}';
        for (std::uint32_t m = object.last_member; m > object.first_member; --m) {
            end = write_backwards(text, members_[m - 1], end);
            if (m - 1 > object.first_member) *--end = ',';
        }
        *--end = '{';
        to = object.begin;
        r = object.first_record;
    }
    copy(range.begin, to);
    return end;
}

std::size_t reorder::memory() const noexcept {
    return records_.capacity() * sizeof(record) + members_.capacity() * sizeof(member_range);
}

}  // namespace idem::cache::detail
