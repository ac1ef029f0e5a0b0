#include "upstream/determinism/guarantee.hpp"

#include <charconv>
#include <cmath>

namespace idem::upstream::determinism {

std::string_view to_string(level l) noexcept {
    switch (l) {
        case level::replica:
            return "replica";
        case level::sibling_class:
            return "class";
        case level::none:
            break;
    }
    return "none";
}

std::string_view to_string(isolation i) noexcept {
    switch (i) {
        case isolation::serial:
            return "serial";
        case isolation::batch_invariant:
            return "batch_invariant";
        case isolation::none:
            break;
    }
    return "none";
}

guarantee guarantee_of(const circumstances& c) noexcept {
    // One sequence at a time means nothing where others call the engine past us. A batch-invariant engine does not
    // mind.
    const bool alone = c.how != isolation::serial || c.exclusive;
    const bool holds = c.strict && !c.weakened && c.admitted && !c.diverging && c.isolated && alone &&
                       c.how != isolation::none && c.runs > 0;
    if (!holds) return {};
    return {c.siblings > 0 ? level::sibling_class : level::replica, c.how, c.runs};
}

double flip_bound(std::uint32_t runs) noexcept {
    constexpr double risk = 0.05;
    return runs == 0 ? 1.0 : 1.0 - std::pow(risk, 1.0 / runs);
}

void append(std::string& out, const guarantee& g) {
    out += to_string(g.what);
    if (g.what == level::none) return;
    out.append("; mode=").append(to_string(g.how)).append("; runs=");
    char text[32];
    out.append(text, std::to_chars(text, text + sizeof text, g.runs).ptr);
    out += "; bound=";
    out.append(text, std::to_chars(text, text + sizeof text, flip_bound(g.runs), std::chars_format::fixed, 4).ptr);
}

}  // namespace idem::upstream::determinism
