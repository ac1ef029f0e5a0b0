#pragma once
// What a policy may do to prompt text so that spellings which mean the same to its users are one request: Unicode
// Normalization Form C (UAX #15, by utf8proc), runs of white space made one space, white space taken off both ends; in
// this order. White space is what has Unicode's property White_Space. Doing it twice changes nothing more. Pure; any
// thread.
#include <cstddef>
#include <string>
#include <string_view>

namespace idem::cache {

struct text_rules {
    bool nfc = false;
    bool collapse_whitespace = false;
    bool trim = false;
    [[nodiscard]] bool any() const noexcept { return nfc || collapse_whitespace || trim; }
};

/// A text in which more marks (general category M) than this follow one another is left without normalisation to NFC:
/// putting marks in order costs the square of their number, and no script needs as many (UAX #15 section 13 has 30 for
/// the same reason).
inline constexpr std::size_t most_marks = 30;

/// `text` is valid UTF-8. False: it was so already. Memory within a small multiple of the text.
bool normalise(std::string& text, const text_rules& rules);

}  // namespace idem::cache
