#include "cache/request/memo.hpp"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace idem::cache {
namespace {

constexpr std::size_t expected_record = 1024;
constexpr std::size_t least_sets = 4;
constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();

// A record is every part of the head as length and bytes, then the body.
std::size_t record_size(std::span<const std::string_view> head, std::string_view body) noexcept {
    std::size_t size = body.size();
    for (std::string_view part : head) size += sizeof(std::uint32_t) + part.size();
    return size;
}

std::uint32_t length_of(std::string_view part) noexcept {
    return part.data() ? static_cast<std::uint32_t>(part.size()) : absent;
}

char* put(char* out, std::string_view bytes) noexcept {
    if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
    return out + bytes.size();
}

void write_record(std::span<const std::string_view> head, std::string_view body, char* out) noexcept {
    for (std::string_view part : head) {
        const std::uint32_t length = length_of(part);
        std::memcpy(out, &length, sizeof length);
        out = put(out + sizeof length, part);
    }
    put(out, body);
}

// The sizes are equal already, and the number of parts never changes, so reading stays within the record.
bool same_record(const char* record, const char* end, std::span<const std::string_view> head,
                 std::string_view body) noexcept {
    for (std::string_view part : head) {
        std::uint32_t length;
        if (static_cast<std::size_t>(end - record) < sizeof length + part.size()) return false;
        std::memcpy(&length, record, sizeof length);
        record += sizeof length;
        if (length != length_of(part)) return false;
        if (!part.empty() && std::memcmp(record, part.data(), part.size()) != 0) return false;
        record += part.size();
    }
    return static_cast<std::size_t>(end - record) == body.size() &&
           (body.empty() || std::memcmp(record, body.data(), body.size()) == 0);
}

}  // namespace

memo_index::memo_index(std::size_t max_bytes, std::size_t slot_extra, std::uint64_t seed)
    : max_bytes_(max_bytes), seed_(seed) {
    const std::size_t each = sizeof(slot) + slot_extra;
    const std::size_t sets = std::bit_floor(std::max(least_sets, max_bytes / (expected_record + each) / ways));
    mask_ = sets - 1;
    slots_.resize(sets * ways);
    fixed_ = slots_.size() * each;
}

std::uint64_t memo_index::hash(std::span<const std::string_view> head, std::string_view body) const noexcept {
    std::uint64_t h = XXH3_64bits_withSeed(body.data(), body.size(), seed_);
    for (std::string_view part : head) {
        if (part.data()) h = XXH3_64bits_withSeed(part.data(), part.size(), h);
    }
    return h;
}

std::optional<std::size_t> memo_index::look(std::uint64_t h, std::span<const std::string_view> head,
                                            std::string_view body) noexcept {
    const std::size_t set = set_of(h);
    for (std::size_t i = set; i < set + ways; ++i) {
        slot& s = slots_[i];
        if (s.hash != h || !s.record) continue;
        if (!same_record(s.record.get(), s.record.get() + s.size, head, body)) continue;
        s.recent = true;
        return i;
    }
    return std::nullopt;
}

std::optional<std::size_t> memo_index::find(std::span<const std::string_view> head, std::string_view body) noexcept {
    if (body.size() > memo_body_cap) return std::nullopt;
    return look(hash(head, body), head, body);
}

// A free slot, else one that was not used since it was last passed over, else any.
std::size_t memo_index::victim(std::size_t set) noexcept {
    for (std::size_t i = set; i < set + ways; ++i) {
        if (!slots_[i].record) return i;
    }
    for (std::size_t i = set; i < set + ways; ++i) {
        if (!slots_[i].recent) return i;
        slots_[i].recent = false;
    }
    return set + hand_ % ways;
}

void memo_index::drop(slot& s) noexcept {
    used_ -= s.size;
    s.record.reset();
    s.size = 0;
    s.recent = false;
}

// Walks the table like a clock; two rounds at most, since the first clears every mark.
void memo_index::shrink_to(std::size_t bytes, std::size_t spared) noexcept {
    for (std::size_t steps = 2 * slots_.size(); used_ > bytes && steps > 0; --steps) {
        const std::size_t at = hand_;
        hand_ = (hand_ + 1) % slots_.size();
        slot& s = slots_[at];
        if (at == spared || !s.record) continue;
        if (s.recent) {
            s.recent = false;
        } else {
            drop(s);
        }
    }
}

std::optional<std::size_t> memo_index::insert(std::span<const std::string_view> head, std::string_view body) {
    const std::size_t size = record_size(head, body);
    if (body.size() > memo_body_cap || size > 2 * memo_body_cap || size > max_bytes_) return std::nullopt;
    const std::uint64_t h = hash(head, body);
    if (const auto known = look(h, head, body)) return known;
    auto record = std::make_unique_for_overwrite<char[]>(size);
    write_record(head, body, record.get());
    const std::size_t at = victim(set_of(h));
    slot& s = slots_[at];
    drop(s);
    s.hash = h;
    s.record = std::move(record);
    s.size = static_cast<std::uint32_t>(size);
    used_ += size;
    shrink_to(max_bytes_, at);
    return at;
}

void memo_index::clear() noexcept {
    for (slot& s : slots_) drop(s);
}

}  // namespace idem::cache
