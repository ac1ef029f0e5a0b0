#include "gateway/config/text.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <cstdio>
#include <limits>

namespace idem::gateway::config {

namespace {

struct unit {
    std::string_view name;
    std::uint64_t factor;
};

constexpr std::array sizes{unit{"tib", 1ull << 40},
                           unit{"gib", 1ull << 30},
                           unit{"mib", 1ull << 20},
                           unit{"kib", 1ull << 10},
                           unit{"tb", 1'000'000'000'000},
                           unit{"gb", 1'000'000'000},
                           unit{"mb", 1'000'000},
                           unit{"kb", 1'000},
                           unit{"b", 1}};
// Longest first where one is a prefix of another ("ms" before "m").
constexpr std::array durations{unit{"d", 86'400'000}, unit{"h", 3'600'000}, unit{"ms", 1}, unit{"m", 60'000},
                               unit{"s", 1'000}};

char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](char c) { return lower(c); });
    return out;
}

// Reads digits off the front.
std::optional<std::uint64_t> take_number(std::string_view& text) noexcept {
    std::uint64_t n = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (ec != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return n;
}

std::optional<std::uint64_t> multiply(std::uint64_t a, std::uint64_t b) noexcept {
    std::uint64_t out = 0;
    if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
    return out;
}

}  // namespace

std::optional<std::uint64_t> parse_integer(std::string_view text) noexcept {
    const auto n = take_number(text);
    return n && text.empty() ? n : std::nullopt;
}

std::optional<std::uint64_t> parse_size(std::string_view text) noexcept {
    const auto n = take_number(text);
    if (!n) return std::nullopt;
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    if (text.empty()) return n;
    for (const auto& u : sizes) {
        if (text.size() == u.name.size() &&
            std::equal(text.begin(), text.end(), u.name.begin(), [](char a, char b) { return lower(a) == b; })) {
            return multiply(*n, u.factor);
        }
    }
    return std::nullopt;
}

std::optional<std::uint64_t> parse_share(std::string_view text, std::uint64_t whole) noexcept {
    const auto n = take_number(text);
    if (!n || text != "%" || *n < 1 || *n > 100) return std::nullopt;
    return whole / 100 * *n + whole % 100 * *n / 100;
}

std::optional<milliseconds> parse_duration(std::string_view text) noexcept {
    if (text == "0") return milliseconds(0);
    if (text.empty()) return std::nullopt;
    std::uint64_t sum = 0;
    while (!text.empty()) {
        const auto n = take_number(text);
        if (!n) return std::nullopt;
        const auto* u = std::find_if(durations.begin(), durations.end(),
                                     [&](const unit& candidate) { return text.starts_with(candidate.name); });
        if (u == durations.end()) return std::nullopt;
        text.remove_prefix(u->name.size());
        const auto part = multiply(*n, u->factor);
        if (!part || __builtin_add_overflow(sum, *part, &sum)) return std::nullopt;
    }
    if (sum > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 1'000'000)) return std::nullopt;
    return milliseconds(static_cast<std::int64_t>(sum));
}

std::optional<address> parse_address(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto port = parse_integer(text.substr(colon + 1));
    if (!port || *port > 65535) return std::nullopt;
    std::string host(text.substr(0, colon));
    if (host.empty()) host = "0.0.0.0";
    if (host == "localhost") host = "127.0.0.1";
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    boost::system::error_code ec;
    const auto literal = boost::asio::ip::make_address(host, ec);
    if (ec || literal.is_v6() != bracketed) return std::nullopt;
    return address{host, static_cast<std::uint16_t>(*port)};
}

std::optional<bool> parse_boolean(std::string_view text) noexcept {
    for (const auto yes : {"true", "yes", "on"}) {
        if (text == yes) return true;
    }
    for (const auto no : {"false", "no", "off"}) {
        if (text == no) return false;
    }
    return std::nullopt;
}

bool valid_cidr(std::string_view text) {
    const auto slash = text.find('/');
    boost::system::error_code ec;
    const auto literal = boost::asio::ip::make_address(std::string(text.substr(0, slash)), ec);
    if (ec) return false;
    if (slash == std::string_view::npos) return true;
    const auto bits = parse_integer(text.substr(slash + 1));
    return bits && *bits <= (literal.is_v4() ? 32u : 128u);
}

std::string format_size(std::uint64_t bytes) {
    if (bytes == 0) return "0";
    for (const auto& [name, factor] :
         {unit{"TiB", 1ull << 40}, unit{"GiB", 1ull << 30}, unit{"MiB", 1ull << 20}, unit{"KiB", 1ull << 10}}) {
        if (bytes % factor == 0) return std::to_string(bytes / factor) + std::string(name);
    }
    return std::to_string(bytes);
}

std::optional<std::uint64_t> parse_ratio(std::string_view text) noexcept {
    constexpr std::uint64_t whole = 1'000'000;
    const auto before = take_number(text);
    if (!before || *before > 1) return std::nullopt;
    std::uint64_t behind = 0, unit = whole;
    if (!text.empty()) {
        if (text.front() != '.' || text.size() < 2 || text.size() > 7) return std::nullopt;
        for (const char c : text.substr(1)) {
            if (c < '0' || c > '9') return std::nullopt;
            unit /= 10;
            behind += unit * static_cast<std::uint64_t>(c - '0');
        }
    }
    const std::uint64_t n = *before * whole + behind;
    return n <= whole ? std::optional(n) : std::nullopt;
}

std::string format_ratio(std::uint64_t millionths) {
    std::string behind = std::to_string(1'000'000 + millionths % 1'000'000).substr(1);
    while (!behind.empty() && behind.back() == '0') behind.pop_back();
    const std::string before = std::to_string(millionths / 1'000'000);
    return behind.empty() ? before : before + "." + behind;
}

std::string format_duration(milliseconds d) {
    const auto ms = static_cast<std::uint64_t>(d.count());
    if (ms == 0) return "0";
    for (const auto& [name, factor] :
         {unit{"d", 86'400'000}, unit{"h", 3'600'000}, unit{"m", 60'000}, unit{"s", 1'000}}) {
        // Two minutes read better as 120s; from three on as minutes.
        if (ms % factor == 0 && ms / factor >= (factor == 60'000 ? 3u : 1u)) {
            return std::to_string(ms / factor) + std::string(name);
        }
    }
    return std::to_string(ms) + "ms";
}

std::string format_address(const address& a) {
    const bool v6 = a.host.find(':') != std::string::npos;
    return (v6 ? "[" + a.host + "]" : a.host) + ":" + std::to_string(a.port);
}

std::string mask_url(std::string_view url) {
    const auto scheme = url.find("://");
    const auto from = scheme == std::string_view::npos ? 0 : scheme + 3;
    const auto at = url.substr(from, url.find_first_of("/?#", from) - from).rfind('@');
    if (at == std::string_view::npos) return std::string(url);
    return std::string(url.substr(0, from)) + "***" + std::string(url.substr(from + at));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
            diagonal = above;
        }
    }
    return row[b.size()];
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
    if (word.size() > 64) return std::nullopt;
    std::optional<std::string> best;
    std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
    const auto folded = lower(word);
    for (const auto& c : candidates) {
        const auto d = edit_distance(folded, lower(c));
        if (d < best_distance) {
            best = c;
            best_distance = d;
        }
    }
    return best;
}

std::string yaml_scalar(std::string_view text) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
               c == '.' || c == '/' || c == '%';
    };
    const bool safe = !text.empty() && std::all_of(text.begin(), text.end(), plain) && text.front() != '-' &&
                      text.front() != '%' && text != "null" && text != "~";
    if (safe) return std::string(text);
    std::string out = "\"";
    for (const char c : text) {
        const auto u = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (u < 0x20 || u == 0x7f) {
            std::array<char, 8> hex{};
            std::snprintf(hex.data(), hex.size(), "\\x%02X", u);
            out += hex.data();
        } else {
            out += c;
        }
    }
    return out + "\"";
}

}  // namespace idem::gateway::config
