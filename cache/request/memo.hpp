#pragma once
// The raw memo: what was worked out for a request, found again by the very bytes of that request. Everything is
// compared in full; XXH3-64 only chooses the bucket, since its collisions can be made by hand. One object a thread: no
// lock. Bounded by bytes: a fixed set-associative table whose records give way to new ones, the recently used last. A
// find never allocates and never moves anything.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace idem::cache {

/// Bodies above this are not remembered.
inline constexpr std::size_t memo_body_cap = 64 * 1024;

/// The table without the values: which slot holds which bytes.
class memo_index {
public:
    /// `max_bytes` bounds the remembered bytes, `slot_extra` is what a slot costs beside them. `seed` is random where
    /// strangers send the requests, so that they cannot aim at one bucket.
    memo_index(std::size_t max_bytes, std::size_t slot_extra, std::uint64_t seed);

    /// `head` is always the same list of parts in the same order; a part that is absent has a null data pointer, which
    /// differs from an empty one.
    [[nodiscard]] std::optional<std::size_t> find(std::span<const std::string_view> head,
                                                  std::string_view body) noexcept;
    /// The slot that holds these bytes from now on; nullopt if they are too long to remember. The slot's old value, if
    /// it had one, is void.
    [[nodiscard]] std::optional<std::size_t> insert(std::span<const std::string_view> head, std::string_view body);
    void clear() noexcept;
    [[nodiscard]] std::size_t slots() const noexcept { return slots_.size(); }
    /// Memory in use, the empty slots included.
    [[nodiscard]] std::size_t bytes() const noexcept { return fixed_ + used_; }

private:
    struct slot {
        std::uint64_t hash = 0;
        std::unique_ptr<char[]> record;  // null: free
        std::uint32_t size = 0;
        bool recent = false;
    };
    static constexpr std::size_t ways = 4;

    [[nodiscard]] std::uint64_t hash(std::span<const std::string_view> head, std::string_view body) const noexcept;
    [[nodiscard]] std::size_t set_of(std::uint64_t hash) const noexcept { return (hash & mask_) * ways; }
    [[nodiscard]] std::optional<std::size_t> look(std::uint64_t hash, std::span<const std::string_view> head,
                                                  std::string_view body) noexcept;
    [[nodiscard]] std::size_t victim(std::size_t set) noexcept;
    void shrink_to(std::size_t bytes, std::size_t spared) noexcept;
    void drop(slot& s) noexcept;

    std::size_t max_bytes_, fixed_ = 0, used_ = 0, hand_ = 0;
    std::uint64_t seed_, mask_ = 0;
    std::vector<slot> slots_;
};

template <class Value>
class memo {
public:
    explicit memo(std::size_t max_bytes, std::uint64_t seed = 0)
        : index_(max_bytes, sizeof(Value), seed), values_(index_.slots()) {}

    /// Valid until the next insert or clear; null if these bytes are not known.
    [[nodiscard]] const Value* find(std::span<const std::string_view> head, std::string_view body) noexcept {
        const std::optional<std::size_t> slot = index_.find(head, body);
        return slot ? &values_[*slot] : nullptr;
    }
    /// Replaces what was known for these bytes.
    void insert(std::span<const std::string_view> head, std::string_view body, Value value) {
        if (const std::optional<std::size_t> slot = index_.insert(head, body)) values_[*slot] = std::move(value);
    }
    void clear() noexcept { index_.clear(); }
    [[nodiscard]] std::size_t bytes() const noexcept { return index_.bytes(); }

private:
    memo_index index_;
    std::vector<Value> values_;
};

}  // namespace idem::cache
