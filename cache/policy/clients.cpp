#include "cache/policy/clients.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <map>

#include "cache/policy/scope.hpp"
#include "cache/request/headers.hpp"

namespace idem::cache {
namespace {

using upstream::http::iequals;

constexpr std::size_t longest_name = 128;

std::string_view next_word(std::string_view& line) noexcept {
    const std::size_t from = std::min(line.find_first_not_of(" \t\r"), line.size());
    line.remove_prefix(from);
    const std::size_t size = std::min(line.find_first_of(" \t\r"), line.size());
    const std::string_view word = line.substr(0, size);
    line.remove_prefix(size);
    return word;
}

std::string lower(std::string_view s) {
    std::string out(s);
    for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    return out;
}

// The key within a field: what follows `Bearer` (RFC 6750 section 2.1), else the whole value.
std::string_view presented(std::string_view value) noexcept {
    constexpr std::string_view scheme = "bearer ";
    if (value.size() > scheme.size() && iequals(value.substr(0, scheme.size()), scheme)) {
        value.remove_prefix(scheme.size());
        while (value.starts_with(' ')) value.remove_prefix(1);
    }
    return value;
}

}  // namespace

client_table::loaded client_table::load(std::string_view text) {
    loaded result;
    client_table& t = result.table;
    std::map<digest, std::uint32_t> owners;
    std::size_t number = 0;
    const auto fail = [&](std::string message) { result.faults.push_back({number, std::move(message)}); };
    while (!text.empty()) {
        ++number;
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        line = line.substr(0, line.find('#'));
        const std::string_view name = next_word(line);
        if (name.empty()) continue;
        const bool visible = std::all_of(name.begin(), name.end(), [](char c) { return c > 0x20 && c < 0x7f; });
        if (name.size() > longest_name || !visible) fail("a client's name has 1 to 128 visible ASCII characters");
        if (std::find(t.names_.begin(), t.names_.end(), name) != t.names_.end()) {
            fail("client " + std::string(name) + " is named twice");
        }
        const auto index = static_cast<std::uint32_t>(t.names_.size());
        t.names_.emplace_back(name);
        std::size_t keys = 0;
        for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
            ++keys;
            const auto hash = digest_from_hex(lower(word));
            if (!hash) {
                fail("a key is given by its SHA-256: 64 hexadecimal digits");
                continue;
            }
            const auto [owner, fresh] = owners.try_emplace(*hash, index);
            if (!fresh) fail("clients " + t.names_[owner->second] + " and " + t.names_[index] + " have the same key");
        }
        if (keys == 0) fail("client " + std::string(name) + " has no key");
    }
    for (const auto& [hash, name] : owners) t.keys_.push_back({hash, name});
    return result;
}

std::optional<std::string_view> client_table::find(std::string_view presented_key) const noexcept {
    const digest hash = sha256(presented_key);
    const auto at = std::lower_bound(keys_.begin(), keys_.end(), hash,
                                     [](const key& k, const digest& wanted) { return k.hash < wanted; });
    if (at == keys_.end() || CRYPTO_memcmp(at->hash.bytes.data(), hash.bytes.data(), hash.bytes.size()) != 0) {
        return std::nullopt;
    }
    return names_[at->name];
}

std::optional<std::string_view> client_table::authenticate(const upstream::http::fields& headers,
                                                           std::string_view query) const {
    std::optional<std::string_view> name;
    bool several = false;
    const auto consider = [&](std::string_view value) {
        const auto found = find(presented(value));
        if (!found) return;
        if (name && *name != *found) several = true;
        name = found;
    };
    for (const auto [field, value] : headers) {
        for (std::string_view known : credential_fields) {
            if (iequals(field, known)) consider(value);
        }
    }
    for (const auto& [parameter, value] : query_credentials(query)) consider(value);
    if (several) return std::nullopt;
    return name;
}

}  // namespace idem::cache
