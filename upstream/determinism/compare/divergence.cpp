#include "upstream/determinism/compare/divergence.hpp"

#include <algorithm>
#include <cmath>

#include "upstream/dialect/json_text.hpp"

namespace idem::upstream::determinism {

namespace {

bool continues(char c) noexcept {
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

std::string begin_of(std::string_view text, std::size_t most) {
    if (text.size() <= most) return std::string(text);
    while (most > 0 && continues(text[most])) --most;
    return std::string(text.substr(0, most));
}

std::string end_of(std::string_view text, std::size_t most) {
    std::size_t from = text.size() > most ? text.size() - most : 0;
    while (from < text.size() && from > 0 && continues(text[from])) ++from;
    return std::string(text.substr(from));
}

bool same_json(std::string_view a, std::string_view b, unsigned depth);

bool same_list(std::string_view a, std::string_view b, unsigned depth) {
    dialect::json_items x(a), y(b);
    for (;;) {
        const bool more = x.next();
        if (more != y.next()) return false;
        if (!more) return true;
        if (!same_json(x.value(), y.value(), depth)) return false;
    }
}

bool spelling(std::string_view key) noexcept {
    return key == "token_ids" || key == "output_ids";
}

std::size_t members_in(std::string_view object) {
    std::size_t n = 0;
    for (dialect::json_members m(object); m.next();) n += !spelling(m.key());
    return n;
}

bool same_object(std::string_view a, std::string_view b, unsigned depth) {
    if (!dialect::unique_keys(a) || !dialect::unique_keys(b) || members_in(a) != members_in(b)) return false;
    for (dialect::json_members m(a); m.next();) {
        if (spelling(m.key())) continue;
        const std::string_view other = dialect::find_member(b, m.key());
        if (other.empty() || !same_json(m.value(), other, depth)) return false;
    }
    return true;
}

// Such as the arguments of a tool call.
bool same_text(const std::optional<std::string>& a, const std::optional<std::string>& b, unsigned depth) {
    if (!a || !b || *a == *b) return a == b;
    const auto structure = [](std::string_view text) {
        const auto first = text.find_first_not_of(" \t\r\n");
        return first != std::string_view::npos && (text[first] == '{' || text[first] == '[') && dialect::is_json(text);
    };
    return structure(*a) && structure(*b) && same_json(dialect::trim(*a), dialect::trim(*b), depth);
}

// Of two JSON texts. Beyond some depth, and where keys are escaped, only the same text is the same.
bool same_json(std::string_view a, std::string_view b, unsigned depth) {
    if (a == b) return true;
    const dialect::json_kind is = dialect::kind_of(a);
    if (is != dialect::kind_of(b) || depth == 0) return false;
    switch (is) {
        case dialect::json_kind::number:
            return dialect::number_value(a) == dialect::number_value(b);
        case dialect::json_kind::string:
            return same_text(dialect::string_text(a), dialect::string_text(b), depth - 1);
        case dialect::json_kind::array:
            return same_list(a, b, depth - 1);
        case dialect::json_kind::object:
            return same_object(a, b, depth - 1);
        default:
            return false;
    }
}

}  // namespace

std::optional<std::size_t> first_difference(std::span<const token> a, std::span<const token> b) noexcept {
    const auto [x, y] = std::ranges::mismatch(a, b);
    if (x == a.end() && y == b.end()) return std::nullopt;
    return static_cast<std::size_t>(x - a.begin());
}

std::optional<parting> part_of(std::string_view a, std::string_view b, std::size_t excerpt) {
    const auto [x, y] = std::ranges::mismatch(a, b);
    if (x == a.end() && y == b.end()) return std::nullopt;
    parting p;
    p.byte = static_cast<std::size_t>(x - a.begin());
    // Not within a character: it is the character that differs.
    std::size_t at = p.byte;
    while (at > 0 && ((at < a.size() && continues(a[at])) || (at < b.size() && continues(b[at])))) --at;
    const std::string_view common = a.substr(0, at);
    p.character = characters_of(common).size();
    const auto pieces_a = pieces_of(a), pieces_b = pieces_of(b);
    p.token = static_cast<std::size_t>(std::ranges::mismatch(pieces_a, pieces_b).in1 - pieces_a.begin());
    p.before = end_of(common, excerpt);
    p.a = begin_of(a.substr(at), excerpt);
    p.b = begin_of(b.substr(at), excerpt);
    return p;
}

std::string_view to_string(rung r) noexcept {
    switch (r) {
        case rung::bytes:
            return "bytes";
        case rung::normalised:
            return "normalised";
        case rung::canonical:
            return "canonical-json";
        case rung::task:
            return "task";
        case rung::semantic:
            return "semantic";
        case rung::none:
            break;
    }
    return "none";
}

bool same_json(std::string_view a, std::string_view b) {
    constexpr unsigned deepest = 64;
    return dialect::is_json(a) && dialect::is_json(b) && same_json(dialect::trim(a), dialect::trim(b), deepest);
}

rung common_rung(std::string_view raw_a, std::string_view raw_b, std::string_view normal_a, std::string_view normal_b) {
    if (raw_a == raw_b) return rung::bytes;
    if (normal_a.empty() || normal_b.empty()) return rung::none;
    if (normal_a == normal_b) return rung::normalised;
    return same_json(normal_a, normal_b) ? rung::canonical : rung::none;
}

drift_of_logprobs compare_logprobs(std::span<const token> tokens_a, std::span<const double> a,
                                   std::span<const token> tokens_b, std::span<const double> b) noexcept {
    drift_of_logprobs d;
    const std::size_t shortest = std::min({tokens_a.size(), tokens_b.size(), a.size(), b.size()});
    double sum = 0;
    for (; d.compared < shortest && tokens_a[d.compared] == tokens_b[d.compared]; ++d.compared) {
        const double apart = std::abs(a[d.compared] - b[d.compared]);
        d.differing += a[d.compared] != b[d.compared];
        d.largest = std::max(d.largest, apart);
        sum += apart;
    }
    if (d.compared > 0) d.mean = sum / static_cast<double>(d.compared);
    return d;
}

}  // namespace idem::upstream::determinism
