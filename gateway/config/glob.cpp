#include "gateway/config/glob.hpp"

namespace idem::gateway::config {

bool glob_match(std::string_view pattern, std::string_view text) noexcept {
    // Greedy with one backtrack point, no recursion.
    std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            mark = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

bool covers(std::string_view wide, std::string_view narrow) noexcept {
    // The narrow pattern is the text: its `*` is a symbol that only a `*` matches.
    return glob_match(wide.empty() ? "*" : wide, narrow.empty() ? "*" : narrow);
}

}  // namespace idem::gateway::config
