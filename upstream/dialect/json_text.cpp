#include "upstream/dialect/json_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "upstream/base/words.hpp"
#include "upstream/dialect/json_parse.hpp"

namespace idem::upstream::dialect {
namespace {

bool is_space(char c) noexcept {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

const char* skip_space(const char* at, const char* end) noexcept {
    while (at != end && is_space(*at)) ++at;
    return at;
}

// `at` is behind the opening quote; the result is behind the closing one, or `end`.
const char* skip_string(const char* at, const char* end) noexcept {
    const char* const begin = at;
    while (at != end) {
        const void* found = std::memchr(at, '"', static_cast<std::size_t>(end - at));
        if (!found) return end;
        const char* quote = static_cast<const char*>(found);
        const char* back = quote;
        while (back != begin && back[-1] == '\\') --back;
        at = quote + 1;
        if ((quote - back) % 2 == 0) return at;
    }
    return end;
}

const char* skip_container(const char* at, const char* end) noexcept {
    std::size_t depth = 0;
    while (at != end) {
        const char c = *at++;
        if (c == '"') {
            at = skip_string(at, end);
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if (c == '}' || c == ']') {
            if (--depth == 0) return at;
        }
    }
    return end;
}

const char* skip_value(const char* at, const char* end) noexcept {
    if (at == end) return at;
    if (*at == '"') return skip_string(at + 1, end);
    if (*at == '{' || *at == '[') return skip_container(at, end);
    while (at != end && *at != ',' && *at != '}' && *at != ']' && !is_space(*at)) ++at;
    return at;
}

std::string_view view(const char* from, const char* to) noexcept {
    return {from, static_cast<std::size_t>(to - from)};
}

}  // namespace

json_kind kind_of(std::string_view token) noexcept {
    if (token.empty()) return json_kind::invalid;
    switch (token.front()) {
        case 'n':
            return json_kind::null;
        case 't':
        case 'f':
            return json_kind::boolean;
        case '"':
            return json_kind::string;
        case '[':
            return json_kind::array;
        case '{':
            return json_kind::object;
        default:
            return token.front() == '-' || (token.front() >= '0' && token.front() <= '9') ? json_kind::number
                                                                                          : json_kind::invalid;
    }
}

bool is_json(std::string_view text) {
    return parse_copied(text).error() == simdjson::SUCCESS;
}

std::string_view trim(std::string_view text) noexcept {
    const char* begin = skip_space(text.data(), text.data() + text.size());
    const char* end = text.data() + text.size();
    while (end != begin && is_space(end[-1])) --end;
    return view(begin, end);
}

json_members::json_members(std::string_view object) noexcept : at_(object.data()), end_(object.data() + object.size()) {
    at_ = skip_space(at_, end_);
    if (at_ == end_ || *at_ != '{') at_ = end_;
    if (at_ != end_) ++at_;
}

bool json_members::next() noexcept {
    at_ = skip_space(at_, end_);
    if (at_ != end_ && *at_ == ',') at_ = skip_space(at_ + 1, end_);
    if (at_ == end_ || *at_ != '"') return false;
    const char* const key = at_ + 1;
    at_ = skip_string(key, end_);
    if (at_ == end_) return false;
    key_ = view(key, at_ - 1);
    at_ = skip_space(at_, end_);
    if (at_ == end_ || *at_ != ':') return false;
    const char* const value = skip_space(at_ + 1, end_);
    at_ = skip_value(value, end_);
    value_ = view(value, at_);
    return !value_.empty();
}

json_items::json_items(std::string_view array) noexcept : at_(array.data()), end_(array.data() + array.size()) {
    at_ = skip_space(at_, end_);
    if (at_ == end_ || *at_ != '[') at_ = end_;
    if (at_ != end_) ++at_;
}

bool json_items::next() noexcept {
    at_ = skip_space(at_, end_);
    if (at_ != end_ && *at_ == ',') at_ = skip_space(at_ + 1, end_);
    if (at_ == end_ || *at_ == ']') return false;
    const char* const value = at_;
    at_ = skip_value(value, end_);
    value_ = view(value, at_);
    return !value_.empty();
}

std::string_view find_member(std::string_view object, std::string_view key) noexcept {
    json_members members(object);
    while (members.next()) {
        if (members.key() == key) return members.value();
    }
    return {};
}

std::optional<std::size_t> place_of(std::string_view item, std::size_t otherwise, std::size_t limit) noexcept {
    const std::string_view index = find_member(item, "index");
    std::size_t at = otherwise;
    if (!index.empty()) {
        const auto [rest, ec] = std::from_chars(index.data(), index.data() + index.size(), at);
        if (ec != std::errc{} || rest != index.data() + index.size()) return std::nullopt;
    }
    return at < limit ? std::optional(at) : std::nullopt;
}

std::string_view member_with_comma(std::string_view object, std::string_view key) noexcept {
    json_members members(object);
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
    while (members.next()) {
        if (members.key() != key) continue;
        auto begin = static_cast<std::size_t>(members.key().data() - object.data()) - 1;
        auto end = static_cast<std::size_t>(members.value().data() - object.data()) + members.value().size();
        std::size_t before = begin;
        while (before > 0 && blank(object[before - 1])) --before;
        if (before > 0 && object[before - 1] == ',') {
            begin = before - 1;
        } else {
            while (end < object.size() && blank(object[end])) ++end;
            if (end < object.size() && object[end] == ',') ++end;
        }
        return object.substr(begin, end - begin);
    }
    return {};
}

bool unique_keys(std::string_view object) {
    std::array<std::string_view, 64> keys;
    std::size_t count = 0;
    json_members members(object);
    while (members.next()) {
        const auto end = keys.begin() + static_cast<std::ptrdiff_t>(count);
        if (count == keys.size() || std::find(keys.begin(), end, members.key()) != end) return false;
        if (members.key().find('\\') != std::string_view::npos) return false;
        keys[count++] = members.key();
    }
    return true;
}

bool key_is(std::string_view key, std::string_view name) {
    if (key.size() <= name.size()) return key == name;  // escapes only make it longer
    if (key.find('\\') == std::string_view::npos) return false;
    const std::string_view token(key.data() - 1, key.size() + 2);  // a cursor's key always stands between quotes
    return string_text(token) == name;
}

std::string_view string_inner(std::string_view token) noexcept {
    if (token.size() < 2 || token.front() != '"' || token.back() != '"') return {};
    return token.substr(1, token.size() - 2);
}

std::optional<std::string> string_text(std::string_view token) {
    if (kind_of(token) != json_kind::string) return std::nullopt;
    const std::string_view inner = string_inner(token);
    if (inner.find('\\') == std::string_view::npos) return std::string(inner);
    std::string_view text;
    if (parse_copied(token).get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
    return std::string(text);
}

std::optional<double> number_value(std::string_view token) noexcept {
    if (kind_of(token) != json_kind::number) return std::nullopt;
    double value = 0;
    const auto [rest, ec] = std::from_chars(token.data(), token.data() + token.size(), value);
    if (ec != std::errc{} || rest != token.data() + token.size()) return std::nullopt;
    return value;
}

namespace {

constexpr std::array<bool, 256> stopping_at(bool beyond_ascii) {
    std::array<bool, 256> stops{};
    for (std::size_t c = 0; c < stops.size(); ++c)
        stops[c] = c < 0x20 || c == '"' || c == '\\' || (beyond_ascii && c >= 0x80);
    return stops;
}
// Bytes at the front, in steps of eight, that are printable ASCII other than quote and backslash; there may be more.
std::size_t plain_prefix(std::string_view text) noexcept {
    std::size_t at = 0;
    for (; at + 8 <= text.size(); at += 8) {
        const std::uint64_t word = words::load(text.data() + at);
        if ((words::beyond_ascii(word) | words::below(word, 0x20) | words::equal(word, '"') |
             words::equal(word, '\\')) != 0) {
            break;
        }
    }
    return at;
}

constexpr std::array<bool, 256> escaped = stopping_at(false);
constexpr std::array<bool, 256> escaped_or_not_ascii = stopping_at(true);

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
    static constexpr char hex[] = "0123456789abcdef";
    const std::array<bool, 256>& stops =
        simdjson::validate_utf8(text.data(), text.size()) ? escaped : escaped_or_not_ascii;
    out += '"';
    while (!text.empty()) {
        // Most text needs no escapes: it is copied in runs.
        std::size_t run = plain_prefix(text);
        while (run < text.size() && !stops[static_cast<unsigned char>(text[run])]) ++run;
        out.append(text.substr(0, run));
        text.remove_prefix(run);
        if (text.empty()) break;
        const char c = text.front();
        text.remove_prefix(1);
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte >= 0x80) {
            out += '?';
        } else {
            static constexpr std::string_view short_names = "btn?fr";  // \b \t \n (\v has none) \f \r
            out += '\\';
            if (byte >= 8 && byte <= 13 && byte != 11) {
                out += short_names[byte - 8U];
            } else {
                out += "u00";
                out += hex[byte >> 4U];
                out += hex[byte & 15U];
            }
        }
    }
    out += '"';
}

void append_member(std::string& out, std::string_view key, std::string_view token) {
    out.append("\"").append(key).append("\":");
    const std::size_t from = out.size();
    out.append(token);
    for (std::size_t i = from; i < out.size(); ++i) {
        if (out[i] == '\n' || out[i] == '\r') out[i] = ' ';
    }
}

void add_member(std::string& object, std::string_view key, std::string_view token) {
    if (token.empty()) return;
    if (object.back() != '{') object += ',';
    append_member(object, key, token);
}

std::string without_member(std::string_view object, std::string_view key, std::string_view value) {
    std::size_t from = static_cast<std::size_t>(key.data() - object.data()) - 1;
    std::size_t to = static_cast<std::size_t>(value.data() - object.data()) + value.size();
    if (to < object.size() && object[to] == ',')
        ++to;
    else if (from > 0 && object[from - 1] == ',')
        --from;
    return std::string(object.substr(0, from)).append(object.substr(to));
}

std::string spliced(std::string_view text, std::string_view part, std::string_view replacement) {
    const auto begin = static_cast<std::size_t>(part.data() - text.data());
    std::string out;
    out.reserve(text.size() + replacement.size());
    out.append(text.substr(0, begin)).append(replacement).append(text.substr(begin + part.size()));
    return out;
}

}  // namespace idem::upstream::dialect
