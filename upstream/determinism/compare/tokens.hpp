#pragma once
// Texts as lists of small numbers, so that edits are counted in words and not in bytes. Where the engine tells its own
// token ids those are used as they are; else a text is cut by the rule below. Not thread-safe.
//
// The rule, which needs no language model and loses nothing (the tokens put together are the text, byte for byte, so
// two texts have the same tokens only if they are the same): a token is
//   - a run of ASCII letters, digits and underscores, and of code points from U+0080 on that are none of the next kind;
//   - one code point of a script that is written without spaces between words (Han, kana, Hangul, Thai, Lao, Khmer,
//     Myanmar) or of the blocks of symbols and emoji from U+2000 to U+2BFF and U+1F000 to U+1FAFF;
//   - a run of one and the same white space character;
//   - any other single character;
//   - a single byte that is no part of a well-formed UTF-8 sequence (RFC 3629).
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace idem::upstream::determinism {

using token = std::uint32_t;
using token_list = std::vector<token>;

/// The pieces of a text by the rule above; views into it.
[[nodiscard]] std::vector<std::string_view> pieces_of(std::string_view text);
/// Unicode scalar values; a byte that is no part of one is itself above U+10FFFF.
[[nodiscard]] token_list characters_of(std::string_view text);

/// Numbers pieces in the order in which they are first seen, from 0: equal pieces of all its texts have one number.
class vocabulary {
public:
    [[nodiscard]] token_list tokens_of(std::string_view text);
    /// Ids of the engine's own, numbered alike.
    [[nodiscard]] token_list tokens_of(const std::vector<std::int64_t>& ids);
    /// Every number given out is below it.
    [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }

private:
    [[nodiscard]] token number_of(std::string_view piece);
    std::map<std::string, token, std::less<>> known_;
};

}  // namespace idem::upstream::determinism
