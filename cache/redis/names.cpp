#include "cache/redis/names.hpp"

#include <array>
#include <charconv>

namespace idem::cache::redis {
namespace {

constexpr std::string_view binding_format = "idem-bind 1 ";
constexpr std::string_view record_format = "idem-record 1 ";

std::string braced(std::string_view prefix, std::string_view kind, std::string_view name) {
    std::string out(prefix);
    out.append(kind).append(":{").append(name).append("}");
    return out;
}

// For a pattern of Redis.
std::string literal(std::string_view prefix) {
    std::string out;
    for (const char c : prefix) {
        if (std::string_view("*?[]\\^").find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

}  // namespace

std::string entry_name(std::string_view prefix, const cache_key& key) {
    std::string name;
    name.reserve(prefix.size() + 68);
    name.append(prefix).append("{").append(to_hex(key.value.bytes)).append("}:e");
    return name;
}

std::string entry_pattern(std::string_view prefix) {
    return literal(prefix) + "{*}:e";
}

std::optional<cache_key> key_of_entry_name(std::string_view prefix, std::string_view name) {
    if (name.size() != prefix.size() + 68) return std::nullopt;
    const auto key = digest_from_hex(name.substr(prefix.size() + 1, 64));
    if (!key || entry_name(prefix, {*key}) != name) return std::nullopt;
    return cache_key{*key};
}

std::string binding_name(std::string_view prefix, const digest& name) {
    return braced(prefix, "bind", to_hex(name.bytes));
}

std::string encode_binding(const binding& b) {
    std::string text(binding_format);
    text.append(to_hex(b.name.bytes)).append(" ").append(to_hex(b.value.bytes));
    return text;
}

std::optional<digest> decode_binding(const digest& name, std::string_view text) {
    const std::size_t value_at = binding_format.size() + 65;
    if (text.size() != value_at + 64) {
        return std::nullopt;
    }
    const auto value = digest_from_hex(text.substr(value_at));
    if (!value || encode_binding({name, *value}) != text) {
        return std::nullopt;
    }
    return value;
}

std::string record_name(std::string_view prefix, std::string_view name) {
    return braced(prefix, "record", name);
}

std::string lease_name(std::string_view prefix, std::string_view name) {
    return braced(prefix, "lease", name);
}

std::string ledger_name(std::string_view prefix, const digest& request) {
    return braced(prefix, "ledger", to_hex(request.bytes));
}

std::string ledger_pattern(std::string_view prefix) {
    return literal(prefix) + "ledger:{*}";
}

std::optional<digest> request_of_ledger_name(std::string_view prefix, std::string_view name) {
    const std::size_t at = prefix.size() + std::string_view("ledger:{").size();
    if (name.size() != at + 65) return std::nullopt;
    const auto request = digest_from_hex(name.substr(at, 64));
    return request && ledger_name(prefix, *request) == name ? request : std::nullopt;
}

std::optional<std::vector<ledger_record>> decode_ledger(const digest& request, std::string_view value) {
    if (!value.starts_with(ledger_format)) return std::nullopt;
    std::vector<ledger_record> out;
    value.remove_prefix(ledger_format.size());
    while (!value.empty()) {
        const auto end = value.find('\n');
        if (auto r = decode_ledger_line(request, value.substr(0, end))) out.push_back(std::move(*r));
        if (end == std::string_view::npos || out.size() >= ledger_records_a_request) break;
        value.remove_prefix(end + 1);
    }
    return out;
}

std::string record_head(std::uint64_t version) {
    std::array<std::uint8_t, 8> bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(version >> (56 - 8 * i));
    std::string text(record_format);
    text.append(to_hex(bytes)).append(" ");
    return text;
}

std::optional<versioned> decode_record(std::string_view text) {
    const std::size_t head = record_format.size() + 17;
    if (text.size() < head || !text.starts_with(record_format)) return std::nullopt;
    const std::string_view digits = text.substr(record_format.size(), 16);
    versioned out;
    const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), out.version, 16);
    if (ec != std::errc{} || record_head(out.version) != text.substr(0, head)) return std::nullopt;
    out.value = text.substr(head);
    return out;
}

}  // namespace idem::cache::redis
