#pragma once
// Strings of the canonical form: escapes are resolved and only those that RFC 8785 section 3.2.2.2 demands are written
// again. UTF-8 is checked by the caller, once for the whole text. Pure; any thread; no allocation.
#include <string_view>

#include "upstream/base/reason.hpp"

namespace idem::cache::detail {

struct copied_string {
    const char* in = nullptr;  // behind the closing quote; nullptr: refused for `why`
    char* out = nullptr;       // behind the last byte written
    bool escaped = false;      // the text in the source holds an escape, so it is not the string itself
    reason why = reason::none;
};

/// `in` is behind the opening quote. Writes the canonical content without quotes; it is never longer than the source,
/// and `out` has eight bytes of room beyond that.
[[nodiscard]] copied_string copy_string(const char* in, const char* end, char* out) noexcept;

/// Resolves the escapes of a canonical string; `out` has room for `text.size()` bytes. Returns the end of what it
/// wrote.
[[nodiscard]] char* unescape(std::string_view text, char* out) noexcept;

}  // namespace idem::cache::detail
