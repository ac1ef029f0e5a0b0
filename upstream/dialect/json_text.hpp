#pragma once
// Reads JSON as text: cursors that hand out the raw tokens of an object or array, so that what is copied keeps its
// number lexemes, escapes and member order (RFC 8259). The cursors expect valid JSON, which the canonicaliser or
// is_json() has established; on anything else they stop early, never read outside their view and never throw. No
// allocation, any thread.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace idem::upstream::dialect {

enum class json_kind : std::uint8_t { invalid, null, boolean, number, string, array, object };

/// By the first byte of a raw token.
[[nodiscard]] json_kind kind_of(std::string_view token) noexcept;
/// One JSON value and nothing but white space around it, checked in full by simdjson; numbers must fit a double or 64
/// bits.
[[nodiscard]] bool is_json(std::string_view text);
[[nodiscard]] std::string_view trim(std::string_view text) noexcept;

/// Walks the members of an object in their order.
class json_members {
public:
    explicit json_members(std::string_view object) noexcept;
    [[nodiscard]] bool next() noexcept;
    /// Between the quotes, escapes as written.
    [[nodiscard]] std::string_view key() const noexcept { return key_; }
    [[nodiscard]] std::string_view value() const noexcept { return value_; }

private:
    const char* at_;
    const char* end_;
    std::string_view key_;
    std::string_view value_;
};

/// Walks the items of an array in their order.
class json_items {
public:
    explicit json_items(std::string_view array) noexcept;
    [[nodiscard]] bool next() noexcept;
    [[nodiscard]] std::string_view value() const noexcept { return value_; }

private:
    const char* at_;
    const char* end_;
    std::string_view value_;
};

/// The raw value of an object's first member of that name (compared as written); empty view if there is none.
[[nodiscard]] std::string_view find_member(std::string_view object, std::string_view key) noexcept;
/// Where an item of an answer says it belongs: its `index`, or `otherwise` if it has none; nullopt if that is no number
/// below `limit`.
[[nodiscard]] std::optional<std::size_t> place_of(std::string_view item, std::size_t otherwise,
                                                  std::size_t limit) noexcept;
/// An object's first member of that name with its key and one comma beside it, so that the object without it is one;
/// empty view if there is none.
[[nodiscard]] std::string_view member_with_comma(std::string_view object, std::string_view key) noexcept;
/// Whether no key comes twice: of two, each reader takes another one. False too for objects of more than 64 members and
/// for keys with escapes, which are not worth the comparison.
[[nodiscard]] bool unique_keys(std::string_view object);
/// Whether a cursor's key means `name`, however it is spelled.
[[nodiscard]] bool key_is(std::string_view key, std::string_view name);
/// What stands between the quotes of a string token; empty for other tokens.
[[nodiscard]] std::string_view string_inner(std::string_view token) noexcept;
/// A string token's text with escapes resolved; nullopt for other tokens and for bad escapes.
[[nodiscard]] std::optional<std::string> string_text(std::string_view token);
/// Value of a number token as a double; nullopt for other tokens.
[[nodiscard]] std::optional<double> number_value(std::string_view token) noexcept;
/// Appends a JSON string with its quotes, written as RFC 8785 writes it; bytes that are not UTF-8 become '?'.
void append_json_string(std::string& out, std::string_view text);
/// Appends `"key":token`; line breaks, which JSON allows between tokens only, become blanks.
void append_member(std::string& out, std::string_view key, std::string_view token);
/// The same into an object, behind a comma unless it is the first member; nothing for an empty token.
void add_member(std::string& object, std::string_view key, std::string_view token);
/// An object without white space, without a member that a cursor stands on: its views `key` and `value`.
[[nodiscard]] std::string without_member(std::string_view object, std::string_view key, std::string_view value);
/// `text` with `part`, a view into it, replaced.
[[nodiscard]] std::string spliced(std::string_view text, std::string_view part, std::string_view replacement);

}  // namespace idem::upstream::dialect
