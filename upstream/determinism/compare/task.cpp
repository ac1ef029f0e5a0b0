#include "upstream/determinism/compare/task.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "upstream/determinism/compare/divergence.hpp"
#include "upstream/determinism/compare/tokens.hpp"
#include "upstream/dialect/json_text.hpp"

namespace idem::upstream::determinism {

namespace {

constexpr std::string_view white = " \t\r\n";

std::string_view trimmed(std::string_view text) noexcept {
    const auto from = text.find_first_not_of(white);
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(white) - from + 1);
}

bool digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

// One step of a pointer; empty: there is nothing.
std::string_view within(std::string_view value, std::string_view step) {
    if (dialect::kind_of(value) == dialect::json_kind::object) {
        std::string key;  // RFC 6901 section 4
        for (std::size_t i = 0; i < step.size(); ++i) {
            const bool escape = step[i] == '~' && i + 1 < step.size();
            key += !escape ? step[i] : step[i + 1] == '1' ? '/' : '~';
            i += escape;
        }
        return dialect::find_member(value, key);
    }
    std::size_t index = 0;
    const auto [end, bad] = std::from_chars(step.data(), step.data() + step.size(), index);
    if (dialect::kind_of(value) != dialect::json_kind::array || bad != std::errc() || end != step.data() + step.size())
        return {};
    dialect::json_items items(value);
    while (items.next())
        if (index-- == 0) return items.value();
    return {};
}

// Empty: there is none.
std::string_view json_in(std::string_view text, std::string_view pointer) {
    std::string_view value = trimmed(text);
    if (const auto fence = value.find("```"); fence != std::string_view::npos && !dialect::is_json(value)) {
        value.remove_prefix(fence);
        value.remove_prefix(std::min(value.find('\n'), value.size()));
        value = trimmed(value.substr(0, value.find("```")));
    }
    if (!dialect::is_json(value)) return {};
    while (!pointer.empty() && !value.empty()) {
        pointer.remove_prefix(1);
        const std::string_view step = pointer.substr(0, pointer.find('/'));
        value = within(value, step);
        pointer.remove_prefix(step.size());
    }
    return value;
}

std::optional<double> last_number(std::string_view text) {
    const auto end = text.find_last_of("0123456789");
    if (end == std::string_view::npos) return std::nullopt;
    std::size_t from = end;
    const auto part = [&](std::size_t at) {
        return digit(text[at]) || ((text[at] == ',' || text[at] == '.') && at > 0 && digit(text[at - 1]));
    };
    while (from > 0 && part(from - 1)) --from;
    std::string plain;
    for (const char c : text.substr(from, end - from + 1))
        if (c != ',') plain += c;
    if (from > 0 && text[from - 1] == '-') plain.insert(0, 1, '-');
    double value = 0;
    const auto [stop, bad] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
    if (bad != std::errc() || stop != plain.data() + plain.size()) return std::nullopt;
    return value;
}

std::string first_word(std::string_view text) {
    for (const std::string_view piece : pieces_of(text)) {
        const auto first = static_cast<unsigned char>(piece.front());
        const bool letter = first >= 0x80 || digit(piece.front()) || (first | 0x20U) - 'a' < 26U;
        // Quotation marks, dashes and arrows from U+2000 to U+2BFF; ideographic stops and brackets from U+3000 to
        // U+303F.
        const auto second = static_cast<unsigned char>(piece.size() > 1 ? piece[1] : 0);
        const bool mark = (first == 0xe2 && second >= 0x80 && second <= 0xaf) || (first == 0xe3 && second == 0x80);
        if (!letter || mark) continue;
        std::string word(piece);
        std::ranges::transform(word, word.begin(),
                               [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
        return word;
    }
    return {};
}

std::string_view after(std::string_view text, std::string_view mark) {
    const auto at = text.rfind(mark);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + mark.size());
    return trimmed(text.substr(0, text.find('\n')));
}

}  // namespace

bool known_check(std::string_view check) noexcept {
    return check == "json" || check.starts_with("json:/") || check == "number" || check == "first-word" ||
           (check.starts_with("after:") && check.size() > 6);
}

bool same_task(std::string_view check, std::string_view a, std::string_view b) {
    if (check.starts_with("json")) {
        const std::string_view pointer = check.substr(std::min<std::size_t>(check.size(), 5));
        const std::string_view x = json_in(a, pointer), y = json_in(b, pointer);
        return !x.empty() && !y.empty() && same_json(x, y);
    }
    if (check == "number") {
        const auto x = last_number(a), y = last_number(b);
        return x && y && *x == *y;
    }
    if (check == "first-word") {
        const std::string word = first_word(a);
        return !word.empty() && word == first_word(b);
    }
    const std::string_view mark = check.substr(std::min<std::size_t>(check.size(), 6));
    return known_check(check) && !after(a, mark).empty() && after(a, mark) == after(b, mark);
}

}  // namespace idem::upstream::determinism
