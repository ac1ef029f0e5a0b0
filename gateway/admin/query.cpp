#include "gateway/admin/query.hpp"

#include <algorithm>
#include <charconv>

namespace idem::gateway::admin {

namespace {

std::string listed(std::span<const std::string_view> known) {
    if (known.empty()) return "none is known here";
    std::string out = "known here: ";
    for (const std::string_view name : known) out.append(name == known.front() ? "" : ", ").append(name);
    return out;
}

}  // namespace

std::optional<std::string> unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        unsigned byte = 0;
        const auto digits = text.substr(i + 1, 2);
        const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        if (digits.size() != 2 || ec != std::errc{} || end != digits.data() + 2) return std::nullopt;
        out += static_cast<char>(byte);
        i += 2;
    }
    return out;
}

query::query(std::string_view text, std::span<const std::string_view> known) {
    while (!text.empty() && error_.empty()) {
        const auto end = text.find('&');
        const auto pair = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        if (pair.empty()) continue;
        const auto equals = pair.find('=');
        const auto name = unescaped(pair.substr(0, equals));
        std::optional<std::string> value;
        if (equals != std::string_view::npos) {
            value = unescaped(pair.substr(equals + 1));
            if (!value) error_ = "the query: broken percent-encoding in \"" + std::string(pair) + "\"";
        }
        if (!name) {
            error_ = "the query: broken percent-encoding in \"" + std::string(pair) + "\"";
        } else if (std::ranges::find(known, *name) == known.end()) {
            error_ = "the query: no parameter \"" + *name + "\"; " + listed(known);
        } else if (std::ranges::find(given_, *name, [](const auto& g) { return g.first; }) != given_.end()) {
            error_ = "the query: the parameter \"" + *name + "\" comes twice";
        } else {
            given_.emplace_back(*name, std::move(value));
        }
    }
}

std::string_view query::text(std::string_view name) const noexcept {
    for (const auto& [given, value] : given_)
        if (given == name && value) return *value;
    return {};
}

bool query::flag(std::string_view name) {
    for (const auto& [given, value] : given_) {
        if (given != name) continue;
        if (!value || *value == "1") return true;
        if (*value != "0" && error_.empty())
            error_ = "the query: " + given + "=" + *value + ", expected " + given + "=1 or " + given + "=0";
        return false;
    }
    return false;
}

}  // namespace idem::gateway::admin
