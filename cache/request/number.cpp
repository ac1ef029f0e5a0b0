#include "cache/request/number.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace idem::cache::detail {
namespace {

constexpr double largest_exact = 9007199254740992.0;  // 2^53
constexpr std::size_t most_integer_digits = 309;      // of a finite double

bool is_digit(char c) noexcept {
    return static_cast<unsigned char>(c - '0') < 10;
}

// Whether a number that is out of range is too large, not too small: from_chars says only that it is out of range.
bool overflows(std::string_view token) noexcept {
    const std::size_t e = token.find_first_of("eE");
    const std::string_view mantissa = token.substr(0, e);
    std::int64_t exponent = 0;
    if (e != std::string_view::npos) {
        std::string_view digits = token.substr(e + 1);
        const bool negative = digits.front() == '-';
        if (!is_digit(digits.front())) digits.remove_prefix(1);
        for (char c : digits) {
            if (exponent < 1'000'000'000'000) exponent = exponent * 10 + (c - '0');
        }
        if (negative) exponent = -exponent;
    }
    const std::size_t first = mantissa.find_first_of("123456789");
    if (first == std::string_view::npos) return false;
    const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
    return static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) + exponent > 0;
}

// The digits and the decimal point's place of the shortest text that reads back as the same double.
struct decimal {
    char digits[20];
    int count = 0;
    int point = 0;  // value = 0.digits * 10^point
};

decimal shortest(double magnitude) noexcept {
    char text[40];
    const char* const end = std::to_chars(text, text + sizeof text, magnitude, std::chars_format::scientific).ptr;
    decimal d;
    const char* p = text;
    for (; p != end && *p != 'e'; ++p) {
        if (*p != '.') d.digits[d.count++] = *p;
    }
    ++p;
    if (p != end && *p == '+') ++p;
    std::from_chars(p, end, d.point);
    ++d.point;
    while (d.count > 1 && d.digits[d.count - 1] == '0') --d.count;
    return d;
}

char* put(char* out, const char* from, int count) noexcept {
    std::memcpy(out, from, static_cast<std::size_t>(count));
    return out + count;
}

char* zeros(char* out, int count) noexcept {
    std::memset(out, '0', static_cast<std::size_t>(count));
    return out + count;
}

}  // namespace

number_token scan_number(std::string_view text) noexcept {
    const char* p = text.data();
    const char* const begin = p;
    const char* const end = p + text.size();
    const auto digits = [&] {
        const char* const from = p;
        while (p != end && is_digit(*p)) ++p;
        return p != from;
    };
    if (p != end && *p == '-') ++p;
    if (p != end && *p == '0') {
        ++p;
    } else if (!digits()) {
        return {};
    }
    bool integer = true;
    if (p != end && *p == '.') {
        integer = false;
        ++p;
        if (!digits()) return {};
    }
    if (p != end && (*p == 'e' || *p == 'E')) {
        integer = false;
        ++p;
        if (p != end && (*p == '+' || *p == '-')) ++p;
        if (!digits()) return {};
    }
    return {static_cast<std::size_t>(p - begin), integer};
}

std::size_t write_double(double value, char* out) noexcept {
    char* p = out;
    if (value == 0) {
        *p = '0';
        return 1;
    }
    if (value < 0) *p++ = '-';
    const decimal d = shortest(std::fabs(value));
    const int n = d.point;
    const int k = d.count;
    if (std::fabs(value) <= largest_exact && n > -6) {
        if (n <= 0) {
            p = put(p, "0.", 2);
            p = zeros(p, -n);
            p = put(p, d.digits, k);
        } else if (k <= n) {
            p = put(p, d.digits, k);
            p = zeros(p, n - k);
        } else {
            p = put(p, d.digits, n);
            *p++ = '.';
            p = put(p, d.digits + n, k - n);
        }
        return static_cast<std::size_t>(p - out);
    }
    *p++ = d.digits[0];
    if (k > 1) {
        *p++ = '.';
        p = put(p, d.digits + 1, k - 1);
    }
    *p++ = 'e';
    if (n > 0) *p++ = '+';
    p = std::to_chars(p, p + 8, n - 1).ptr;
    return static_cast<std::size_t>(p - out);
}

std::size_t write_number(std::string_view token, bool integer, char* out) noexcept {
    if (integer) {
        const std::size_t digits = token.size() - (token.front() == '-');
        if (digits > most_integer_digits) return 0;
        if (token == "-0") token = "0";
        if (digits < most_integer_digits) {
            std::memcpy(out, token.data(), token.size());
            return token.size();
        }
    }
    double value = 0;
    const auto read = std::from_chars(token.data(), token.data() + token.size(), value);
    if (read.ec == std::errc::result_out_of_range) {
        if (overflows(token)) return 0;
        value = 0;
    }
    if (!std::isfinite(value)) return 0;
    if (integer) {
        std::memcpy(out, token.data(), token.size());
        return token.size();
    }
    return write_double(value, out);
}

}  // namespace idem::cache::detail
