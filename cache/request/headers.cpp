#include "cache/request/headers.hpp"

#include <algorithm>

#include "upstream/base/hex.hpp"

namespace idem::cache {
namespace {

using upstream::http::fields;
using upstream::http::iequals;

std::string_view trim(std::string_view s) noexcept {
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
    return s;
}

// Calls `piece` with each part of `text` between separators.
template <class Piece>
void split(std::string_view text, char separator, Piece piece) {
    for (;;) {
        const std::size_t at = text.find(separator);
        piece(text.substr(0, at));
        if (at == std::string_view::npos) return;
        text.remove_prefix(at + 1);
    }
}

bool unreserved(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

std::string normalise_escapes(std::string_view text) {
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const int high = text[i] == '%' && i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
        const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
        if (low < 0) {
            out += text[i];
            continue;
        }
        const char c = static_cast<char>(high * 16 + low);
        if (unreserved(c)) {
            out += c;
        } else {
            out += '%';
            out += digits[high];
            out += digits[low];
        }
        i += 2;
    }
    return out;
}

std::string_view name_of(std::string_view pair) noexcept {
    return pair.substr(0, pair.find('='));
}

bool is_credential(std::string_view pair) noexcept {
    const std::string_view name = name_of(pair);
    return std::any_of(std::begin(credential_parameters), std::end(credential_parameters),
                       [&](std::string_view known) { return iequals(known, name); });
}

}  // namespace

std::string normalise_query(std::string_view query, std::span<const std::string_view> ignored) {
    if (query.empty()) return {};
    std::vector<std::pair<std::string, std::size_t>> pairs;  // with their places
    split(query, '&', [&](std::string_view pair) {
        if (pair.empty()) return;
        std::string normal = normalise_escapes(pair);
        if (is_credential(normal) || std::ranges::find(ignored, name_of(normal)) != ignored.end()) return;
        pairs.emplace_back(std::move(normal), pairs.size());
    });
    std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
        const int order = name_of(a.first).compare(name_of(b.first));
        return order < 0 || (order == 0 && a.second < b.second);
    });
    std::string out;
    for (const auto& [pair, place] : pairs) {
        if (!out.empty()) out += '&';
        out += pair;
    }
    return out;
}

std::string without_credentials(std::string_view target) {
    const auto [path, query] = split_target(target);
    std::string out(path);
    char separator = '?';
    if (path.size() == target.size()) return out;
    split(query, '&', [&](std::string_view pair) {
        if (is_credential(normalise_escapes(pair))) return;
        out += std::exchange(separator, '&');
        out += pair;
    });
    return out;
}

std::string redact_query(std::string_view query) {
    std::string out;
    bool first = true;
    split(query, '&', [&](std::string_view pair) {
        if (!first) out += '&';
        first = false;
        if (is_credential(normalise_escapes(pair))) {
            out.append(name_of(pair)).append("=***");
        } else {
            out += pair;
        }
    });
    return out;
}

std::vector<std::pair<std::string, std::string>> query_credentials(std::string_view query) {
    std::vector<std::pair<std::string, std::string>> found;
    if (query.empty()) return found;
    split(query, '&', [&](std::string_view pair) {
        const std::string normal = normalise_escapes(pair);
        if (!is_credential(normal)) return;
        const std::string_view name = name_of(normal);
        const std::size_t value_at = std::min(name.size() + 1, normal.size());
        found.emplace_back(name, normal.substr(value_at));
    });
    return found;
}

std::vector<std::pair<std::string, std::string>> digest_headers(const fields& all,
                                                                std::span<const std::string_view> names) {
    std::vector<std::pair<std::string, std::string>> out;
    std::vector<std::string_view> values;
    for (std::string_view name : names) {
        values.clear();
        for (const auto [have, value] : all) {
            if (!iequals(have, name)) continue;
            split(value, ',', [&](std::string_view piece) {
                if (piece = trim(piece); !piece.empty()) values.push_back(piece);
            });
        }
        if (values.empty()) continue;
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        std::string joined;
        for (std::string_view value : values) {
            if (!joined.empty()) joined += ',';
            joined += value;
        }
        out.emplace_back(name, std::move(joined));
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

bool json_content(const fields& all) noexcept {
    const std::size_t count = all.count("content-type");
    if (count == 0) return true;
    if (count > 1) return false;
    std::string_view rest = *all.find("content-type");
    const std::string_view type = trim(rest.substr(0, rest.find(';')));
    const bool suffixed = type.size() > 17 && iequals(type.substr(0, 12), "application/") &&
                          iequals(type.substr(type.size() - 5), "+json");
    if (!iequals(type, "application/json") && !suffixed) return false;
    bool utf8 = true;
    const std::size_t parameters = rest.find(';');
    if (parameters == std::string_view::npos) return true;
    split(rest.substr(parameters + 1), ';', [&](std::string_view parameter) {
        const std::size_t equals = parameter.find('=');
        if (equals == std::string_view::npos || !iequals(trim(parameter.substr(0, equals)), "charset")) return;
        std::string_view charset = trim(parameter.substr(equals + 1));
        if (charset.size() >= 2 && charset.front() == '"' && charset.back() == '"') {
            charset = charset.substr(1, charset.size() - 2);
        }
        if (!iequals(charset, "utf-8") && !iequals(charset, "utf8") && !iequals(charset, "us-ascii")) utf8 = false;
    });
    return utf8;
}

target_parts split_target(std::string_view target) noexcept {
    const std::size_t mark = target.find('?');
    if (mark == std::string_view::npos) return {target, {}};
    return {target.substr(0, mark), target.substr(mark + 1)};
}

}  // namespace idem::cache
