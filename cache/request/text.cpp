#include "cache/request/text.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

#include "upstream/base/hex.hpp"
#include "upstream/base/words.hpp"

namespace idem::cache::detail {
namespace {

// Marks the first quote, backslash or control character.
std::uint64_t special(std::uint64_t v) noexcept {
    return words::equal(v, '"') | words::equal(v, '\\') | words::below(v, 0x20);
}

bool is_special(char c) noexcept {
    return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
}

// Four hexadecimal digits, or -1.
int code_unit(const char* in, const char* end) noexcept {
    if (end - in < 4) return -1;
    int value = 0;
    for (int i = 0; i < 4; ++i) {
        const int digit = hex_value(in[i]);
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

char* put_utf8(char* out, std::uint32_t c) noexcept {
    const auto byte = [](std::uint32_t b) { return static_cast<char>(b); };
    if (c < 0x80) {
        *out++ = byte(c);
    } else if (c < 0x800) {
        *out++ = byte(0xc0 | c >> 6);
        *out++ = byte(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *out++ = byte(0xe0 | c >> 12);
        *out++ = byte(0x80 | (c >> 6 & 0x3f));
        *out++ = byte(0x80 | (c & 0x3f));
    } else {
        *out++ = byte(0xf0 | c >> 18);
        *out++ = byte(0x80 | (c >> 12 & 0x3f));
        *out++ = byte(0x80 | (c >> 6 & 0x3f));
        *out++ = byte(0x80 | (c & 0x3f));
    }
    return out;
}

// The letter of a two-character escape, or 0.
char short_escape(std::uint32_t c) noexcept {
    switch (c) {
        case '\b':
            return 'b';
        case '\t':
            return 't';
        case '\n':
            return 'n';
        case '\f':
            return 'f';
        case '\r':
            return 'r';
        case '"':
            return '"';
        case '\\':
            return '\\';
        default:
            return 0;
    }
}

char* put_code_point(char* out, std::uint32_t c) noexcept {
    if (const char letter = short_escape(c)) {
        *out++ = '\\';
        *out++ = letter;
        return out;
    }
    if (c >= 0x20) return put_utf8(out, c);
    static constexpr char digits[] = "0123456789abcdef";
    std::memcpy(out, "\\u00", 4);
    out[4] = digits[c >> 4];
    out[5] = digits[c & 15];
    return out + 6;
}

// `in` is behind "\u". Returns where the escape ends, or nullptr.
const char* copy_unicode_escape(const char* in, const char* end, char*& out, reason& why) noexcept {
    const int first = code_unit(in, end);
    if (first < 0) {
        why = reason::body_not_json;
        return nullptr;
    }
    in += 4;
    auto c = static_cast<std::uint32_t>(first);
    if (c >= 0xd800 && c <= 0xdfff) {
        int second = -1;
        if (c < 0xdc00 && end - in >= 6 && in[0] == '\\' && in[1] == 'u') second = code_unit(in + 2, end);
        if (second < 0xdc00 || second > 0xdfff) {
            why = reason::body_invalid_utf8;
            return nullptr;
        }
        in += 6;
        c = 0x10000 + ((c - 0xd800) << 10) + (static_cast<std::uint32_t>(second) - 0xdc00);
    }
    out = put_code_point(out, c);
    return in;
}

// `in` is at a backslash. Returns where the escape ends, or nullptr.
const char* copy_escape(const char* in, const char* end, char*& out, reason& why) noexcept {
    if (end - in < 2) {
        why = reason::body_not_json;
        return nullptr;
    }
    switch (in[1]) {
        case 'n':
        case '"':
        case '\\':
        case 't':
        case 'r':
        case 'b':
        case 'f':
            *out++ = '\\';
            *out++ = in[1];
            return in + 2;
        case '/':
            *out++ = '/';
            return in + 2;
        case 'u':
            return copy_unicode_escape(in + 2, end, out, why);
        default:
            why = reason::body_not_json;
            return nullptr;
    }
}

// Copies up to the first special byte or the end of the text.
void copy_run(const char*& in, const char* end, char*& out) noexcept {
    if constexpr (std::endian::native == std::endian::little) {
        while (end - in >= 8) {
            std::uint64_t v;
            std::memcpy(&v, in, 8);
            std::memcpy(out, &v, 8);
            const std::uint64_t found = special(v);
            const int clean = found ? std::countr_zero(found) / 8 : 8;
            in += clean;
            out += clean;
            if (found) return;
        }
    }
    while (in != end && !is_special(*in)) *out++ = *in++;
}

}  // namespace

copied_string copy_string(const char* in, const char* end, char* out) noexcept {
    copied_string result;
    for (;;) {
        copy_run(in, end, out);
        if (in == end || static_cast<unsigned char>(*in) < 0x20) {
            result.why = reason::body_not_json;
            return result;
        }
        if (*in == '"') {
            result.in = in + 1;
            result.out = out;
            return result;
        }
        result.escaped = true;
        in = copy_escape(in, end, out, result.why);
        if (!in) return result;
    }
}

char* unescape(std::string_view text, char* out) noexcept {
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '\\') {
            c = text[++i];
            switch (c) {
                case 'b':
                    c = '\b';
                    break;
                case 't':
                    c = '\t';
                    break;
                case 'n':
                    c = '\n';
                    break;
                case 'f':
                    c = '\f';
                    break;
                case 'r':
                    c = '\r';
                    break;
                case 'u':
                    c = static_cast<char>(hex_value(text[i + 3]) * 16 + hex_value(text[i + 4]));
                    i += 4;
                    break;
                default:
                    break;
            }
        }
        *out++ = c;
    }
    return out;
}

}  // namespace idem::cache::detail
