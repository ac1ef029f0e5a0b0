#pragma once
// Lists of words in one text, separated by `|`: how profiles write them. Pure.
#include <algorithm>
#include <string_view>

namespace idem::upstream::engine {

[[nodiscard]] constexpr bool lists(std::string_view words, std::string_view word) noexcept {
    for (;;) {
        const auto end = std::min(words.find('|'), words.size());
        if (words.substr(0, end) == word) return true;
        if (end == words.size()) return false;
        words.remove_prefix(end + 1);
    }
}

}  // namespace idem::upstream::engine
