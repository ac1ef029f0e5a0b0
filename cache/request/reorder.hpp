#pragma once
// Puts the members of objects in order after the whole text is known. While a document is read its canonical text grows
// in the order of the source; every object whose keys were not ascending leaves a record of where its members lie. One
// walk over the records then writes the sorted text, each byte once however deep the nesting: sorting at each closing
// brace would copy a byte once a level. Internal to the canonicaliser; not thread-safe.
#include <cstdint>
#include <string_view>
#include <vector>

namespace idem::cache::detail {

/// A member of an object: its text `"key":value` and the records of the objects inside it.
struct member_range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t first_record = 0;
    std::uint32_t last_record = 0;
};

class reorder {
public:
    void clear() noexcept;
    void release() noexcept;
    [[nodiscard]] std::uint32_t records() const noexcept { return static_cast<std::uint32_t>(records_.size()); }
    [[nodiscard]] std::size_t members() const noexcept { return members_.size(); }
    /// Forgets the records from that one on, because the text they describe was dropped.
    void drop(std::uint32_t from) noexcept;
    /// The members of the object at [begin, end) of the text, braces included, are to stand in the order of the place()
    /// calls that follow. Objects are reported innermost first; `first_record` is records() when this one began.
    void object(std::uint32_t begin, std::uint32_t end, std::uint32_t first_record);
    void place(const member_range& member);
    /// Writes the sorted text, text.size() bytes, to `out`.
    void write(std::string_view text, char* out) const noexcept;
    [[nodiscard]] std::size_t memory() const noexcept;

private:
    struct record {
        std::uint32_t begin, end, first_record, first_member, last_member;
    };
    [[nodiscard]] char* write_backwards(const char* text, const member_range& range, char* end) const noexcept;

    std::vector<record> records_;        // innermost first
    std::vector<member_range> members_;  // of all records
};

}  // namespace idem::cache::detail
