#pragma once
// Merges JSON objects that arrive in pieces into one, as raw text: what was text stays the text it was. Every rule says
// what a second value of the same name means; where that is not certain the result counts as lossy. Belongs to one
// thread.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "upstream/dialect/json_text.hpp"

namespace idem::upstream::dialect {

enum class merge_rule : std::uint8_t {
    once,    // always the same value; another one is a loss
    single,  // like once, but a list or object may not come twice: it could be a piece
    first,   // the first value counts
    last,    // the last value counts
    text,    // like once, but "" means nothing
    concat,  // pieces of one string
    append,  // pieces of one array
};

/// Members keep the order in which they were first seen. null gives way to any value and never replaces one.
class json_merge {
public:
    /// `key` without quotes, as written; `value` a raw token.
    void take(std::string_view key, std::string_view value, merge_rule rule);
    /// Puts `value` at the key's place, or last.
    void put(std::string_view key, std::string value);
    /// Makes sure that the key has a place; its value is null so far.
    void reserve(std::string_view key);
    [[nodiscard]] bool has(std::string_view key) const noexcept { return find(key) != nullptr; }
    /// Whether there is a value that is neither null nor "" nor [].
    [[nodiscard]] bool filled(std::string_view key) const noexcept;
    /// Of strings and arrays what stands between the delimiters, of others the token; empty if there is none.
    [[nodiscard]] std::string_view inner(std::string_view key) const noexcept;
    [[nodiscard]] bool lossy() const noexcept { return lossy_; }
    void mark_lossy() noexcept { lossy_ = true; }
    [[nodiscard]] std::string text() const;

private:
    struct slot {
        std::string key;
        json_kind kind;
        std::string inner;
    };
    [[nodiscard]] slot* find(std::string_view key) noexcept;
    [[nodiscard]] const slot* find(std::string_view key) const noexcept;
    void combine(slot& into, json_kind kind, std::string_view inner, merge_rule rule);

    std::vector<slot> slots_;
    bool lossy_ = false;
};

}  // namespace idem::upstream::dialect
