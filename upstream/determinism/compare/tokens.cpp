#include "upstream/determinism/compare/tokens.hpp"

#include <array>

namespace idem::upstream::determinism {

namespace {

constexpr token beyond_unicode = 0x110000;

struct scalar {
    token value = 0;
    std::size_t size = 1;
    bool good = false;
};

// The scalar value at the start of a text that is not empty (RFC 3629 section 4).
scalar first_of(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<token>(static_cast<unsigned char>(text[i])); };
    const token lead = byte(0);
    if (lead < 0x80) return {lead, 1, true};
    const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {lead, 1, false};
    token value = lead & (0x7fU >> size);
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) return {lead, 1, false};
        value = value << 6 | (byte(i) & 0x3fU);
    }
    constexpr std::array<token, 5> least = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = value >= 0xd800 && value <= 0xdfff;
    if (value < least[size] || value >= beyond_unicode || surrogate) return {lead, 1, false};
    return {value, size, true};
}

bool stands_alone(token c) noexcept {
    struct range {
        token from, to;
    };
    constexpr range alone[] = {{0x0e00, 0x0eff},  {0x1000, 0x109f}, {0x1100, 0x11ff}, {0x1780, 0x17ff},
                               {0x2000, 0x2bff},  {0x2e80, 0x9fff}, {0xa960, 0xa97f}, {0xac00, 0xd7ff},
                               {0xf900, 0xfaff},  {0xfe00, 0xfe6f}, {0xff00, 0xffef}, {0x1f000, 0x1faff},
                               {0x20000, 0x3ffff}};
    for (const range& r : alone)
        if (c >= r.from && c <= r.to) return true;
    return false;
}

enum class kind : std::uint8_t { word, space, alone };

kind kind_of(const scalar& c) noexcept {
    if (!c.good) return kind::alone;
    if (c.value >= 0x80) return stands_alone(c.value) ? kind::alone : kind::word;
    const bool letter = (c.value | 0x20U) >= 'a' && (c.value | 0x20U) <= 'z';
    if (letter || (c.value >= '0' && c.value <= '9') || c.value == '_') return kind::word;
    return c.value == ' ' || (c.value >= '\t' && c.value <= '\r') ? kind::space : kind::alone;
}

}  // namespace

std::vector<std::string_view> pieces_of(std::string_view text) {
    std::vector<std::string_view> out;
    while (!text.empty()) {
        const scalar first = first_of(text);
        const kind is = kind_of(first);
        std::size_t size = first.size;
        while (is != kind::alone && size < text.size()) {
            const scalar next = first_of(text.substr(size));
            if (kind_of(next) != is || (is == kind::space && next.value != first.value)) break;
            size += next.size;
        }
        out.push_back(text.substr(0, size));
        text.remove_prefix(size);
    }
    return out;
}

token_list characters_of(std::string_view text) {
    token_list out;
    out.reserve(text.size());
    while (!text.empty()) {
        const scalar c = first_of(text);
        out.push_back(c.good ? c.value : beyond_unicode + c.value);
        text.remove_prefix(c.size);
    }
    return out;
}

token vocabulary::number_of(std::string_view piece) {
    const auto at = known_.find(piece);
    if (at != known_.end()) return at->second;
    return known_.emplace(std::string(piece), static_cast<token>(known_.size())).first->second;
}

token_list vocabulary::tokens_of(std::string_view text) {
    token_list out;
    for (const std::string_view piece : pieces_of(text)) out.push_back(number_of(piece));
    return out;
}

token_list vocabulary::tokens_of(const std::vector<std::int64_t>& ids) {
    token_list out;
    out.reserve(ids.size());
    // No piece of a text begins with a character that only control codes do and goes on behind it.
    for (const std::int64_t id : ids) out.push_back(number_of("\x01" + std::to_string(id)));
    return out;
}

}  // namespace idem::upstream::determinism
