#include "gateway/config/covers.hpp"

namespace idem::gateway::config {

bool covers(std::string_view wide, std::string_view narrow) noexcept {
    if (wide.empty()) wide = "*";
    if (narrow.empty()) narrow = "*";
    // Glob matching in which the narrow pattern is the text: its `*` is a symbol that only `*` matches.
    std::size_t w = 0, n = 0, star = std::string_view::npos, mark = 0;
    while (n < narrow.size()) {
        if (w < wide.size() && wide[w] == '*') {
            star = w++;
            mark = n;
        } else if (w < wide.size() && wide[w] == narrow[n]) {
            ++w;
            ++n;
        } else if (star != std::string_view::npos) {
            w = star + 1;
            n = ++mark;
        } else {
            return false;
        }
    }
    while (w < wide.size() && wide[w] == '*') ++w;
    return w == wide.size();
}

}  // namespace idem::gateway::config
