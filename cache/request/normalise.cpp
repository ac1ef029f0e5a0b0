#include "cache/request/normalise.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

namespace idem::cache {
namespace {

struct free_bytes {
    void operator()(utf8proc_uint8_t* p) const noexcept { std::free(p); }
};

// Below U+0300 every text is in NFC: no mark and nothing that decomposes into something shorter stands there.
bool surely_nfc(std::string_view text) noexcept {
    constexpr auto lead_of_0300 = 0xcc;
    return std::ranges::all_of(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < lead_of_0300;
    });
}

bool is_mark(utf8proc_int32_t c) noexcept {
    const utf8proc_category_t category = utf8proc_category(c);
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC || category == UTF8PROC_CATEGORY_ME;
}

bool too_many_marks(std::string_view text) noexcept {
    const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
    auto left = static_cast<utf8proc_ssize_t>(text.size());
    std::size_t marks = 0;
    while (left > 0) {
        utf8proc_int32_t c = 0;
        const utf8proc_ssize_t size = utf8proc_iterate(at, left, &c);
        if (size <= 0) return true;
        marks = is_mark(c) ? marks + 1 : 0;
        if (marks > most_marks) return true;
        at += size;
        left -= size;
    }
    return false;
}

bool compose(std::string& text) {
    if (surely_nfc(text) || too_many_marks(text)) return false;
    utf8proc_uint8_t* made = nullptr;
    const utf8proc_ssize_t size =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                     &made, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    const std::unique_ptr<utf8proc_uint8_t, free_bytes> owner(made);
    if (size == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
    if (size < 0) return false;
    const std::string_view composed(reinterpret_cast<const char*>(made), static_cast<std::size_t>(size));
    if (composed == text) return false;
    text = composed;
    return true;
}

// Bytes of the white space that stands at the beginning of the text; 0 if there is none.
std::size_t white_space(std::string_view text) noexcept {
    if (text.empty()) return 0;
    const auto byte = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
    switch (byte(0)) {
        case '\t':
        case '\n':
        case '\v':
        case '\f':
        case '\r':
        case ' ':
            return 1;
        case 0xc2:  // U+0085, U+00A0
            return byte(1) == 0x85 || byte(1) == 0xa0 ? 2 : 0;
        case 0xe1:  // U+1680
            return byte(1) == 0x9a && byte(2) == 0x80 ? 3 : 0;
        case 0xe2:  // U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F
            if (byte(1) == 0x81) return byte(2) == 0x9f ? 3 : 0;
            if (byte(1) != 0x80) return 0;
            return (byte(2) >= 0x80 && byte(2) <= 0x8a) || byte(2) == 0xa8 || byte(2) == 0xa9 || byte(2) == 0xaf ? 3
                                                                                                                 : 0;
        case 0xe3:  // U+3000
            return byte(1) == 0x80 && byte(2) == 0x80 ? 3 : 0;
        default:
            return 0;
    }
}

std::size_t white_space_at_end(std::string_view text) noexcept {
    for (std::size_t size = 1; size <= std::min<std::size_t>(3, text.size()); ++size) {
        if (white_space(text.substr(text.size() - size)) == size) return size;
    }
    return 0;
}

bool collapse(std::string& text) {
    std::size_t to = 0;
    bool changed = false;
    for (std::size_t from = 0; from < text.size();) {
        std::size_t size = white_space(std::string_view(text).substr(from));
        if (size == 0) {
            text[to++] = text[from++];
            continue;
        }
        const std::size_t begin = from;
        for (; size != 0; size = white_space(std::string_view(text).substr(from))) from += size;
        changed = changed || from - begin > 1 || text[begin] != ' ';
        text[to++] = ' ';
    }
    text.resize(to);
    return changed;
}

bool trim_ends(std::string& text) {
    std::string_view rest = text;
    while (const std::size_t size = white_space(rest)) rest.remove_prefix(size);
    while (const std::size_t size = white_space_at_end(rest)) rest.remove_suffix(size);
    if (rest.size() == text.size()) return false;
    text = std::string(rest);
    return true;
}

}  // namespace

bool normalise(std::string& text, const text_rules& rules) {
    bool changed = false;
    if (rules.nfc) changed = compose(text) || changed;
    if (rules.collapse_whitespace) changed = collapse(text) || changed;
    if (rules.trim) changed = trim_ends(text) || changed;
    return changed;
}

}  // namespace idem::cache
