#pragma once
// An ordered list of HTTP header fields in one arena. Names compare case-insensitively (RFC 9110 section 5.1), order
// and spelling are kept. clear() keeps the memory, so a connection parses its next head without allocating. Not
// thread-safe.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace idem::upstream::http {

struct field {
    std::string_view name;
    std::string_view value;
};

class fields {
public:
    void add(std::string_view name, std::string_view value);
    /// For parsers: copies a whole head in at once, so that its fields need not be copied one by one. The returned view
    /// is valid until the next add(), hold() or clear().
    [[nodiscard]] std::string_view hold(std::string_view bytes);
    /// A field whose parts lie in what hold() returned last.
    void add_held(std::string_view name, std::string_view value);
    /// Value of the first field of that name.
    [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept;
    [[nodiscard]] std::size_t count(std::string_view name) const noexcept;
    /// Removes all fields of that name; returns how many there were.
    std::size_t remove(std::string_view name) noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }
    [[nodiscard]] bool empty() const noexcept { return slots_.empty(); }
    /// Views are valid until the next add() or clear().
    [[nodiscard]] field operator[](std::size_t i) const noexcept {
        const slot& s = slots_[i];
        return {{arena_.data() + s.name_at, s.name_size}, {arena_.data() + s.value_at, s.value_size}};
    }
    void clear() noexcept;
    /// clear(), and gives the memory back if it is more than `bytes`: an idle connection should not keep a large head.
    void release_above(std::size_t bytes) noexcept;

    class iterator {
    public:
        iterator(const fields* owner, std::size_t i) : owner_(owner), i_(i) {}
        field operator*() const noexcept { return (*owner_)[i_]; }
        iterator& operator++() noexcept {
            ++i_;
            return *this;
        }
        bool operator==(const iterator&) const = default;

    private:
        const fields* owner_;
        std::size_t i_;
    };
    [[nodiscard]] iterator begin() const noexcept { return {this, 0}; }
    [[nodiscard]] iterator end() const noexcept { return {this, slots_.size()}; }

private:
    struct slot {
        std::uint32_t name_at, name_size, value_at, value_size;
    };
    std::string arena_;
    std::vector<slot> slots_;
};

/// Byte by byte, of equally many bytes.
[[nodiscard]] bool iequals_bytes(const char* a, const char* b, std::size_t size) noexcept;
/// ASCII case-insensitive equality. A head is asked for many names, and most differ in length: that is seen inline.
[[nodiscard]] inline bool iequals(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() && iequals_bytes(a.data(), b.data(), a.size());
}
/// True if the comma-separated list holds the token (RFC 9110 section 5.6.1), case-insensitively.
[[nodiscard]] bool list_has(std::string_view list, std::string_view token) noexcept;

}  // namespace idem::upstream::http
