#pragma once
// Numbers of the canonical form. A number with fraction or exponent is read as an IEEE 754 double and written as
// ECMAScript does (RFC 8785 section 3.2.2.3, ECMA-262 Number::toString), except that beyond 2^53 the exponent form is
// always used; an integer literal keeps its digits, whatever its size. So a literal and a double never look alike where
// the double may have lost digits. Pure; any thread; no allocation.
#include <cstddef>
#include <string_view>

namespace idem::cache::detail {

struct number_token {
    std::size_t size = 0;  // bytes of the JSON number at the start of the text; 0: there is none
    bool integer = false;  // neither fraction nor exponent
};

/// The longest number (RFC 8259 section 6) at the start of `text`.
[[nodiscard]] number_token scan_number(std::string_view text) noexcept;

/// Bytes that write_number may need for a number without or with up to 309 digits.
inline constexpr std::size_t number_room = 320;

/// Writes the canonical form of a token that scan_number has found; returns the bytes written, 0 if the number is not
/// finite as a double. `out` has room for number_room bytes.
[[nodiscard]] std::size_t write_number(std::string_view token, bool integer, char* out) noexcept;

/// ECMAScript text of a finite double, except for magnitudes beyond 2^53 (see above).
[[nodiscard]] std::size_t write_double(double value, char* out) noexcept;

}  // namespace idem::cache::detail
