#include "cache/entry/keyring.hpp"

#include <openssl/crypto.h>

#include <algorithm>

#include "upstream/base/digest.hpp"

namespace idem::cache {

namespace {

constexpr std::string_view white = " \t\r";

std::string_view trimmed(std::string_view text) {
    const auto from = text.find_first_not_of(white);
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(white) - from + 1);
}

bool good_id(std::string_view id) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.';
    };
    return !id.empty() && id.size() <= keyring::longest_id && std::ranges::all_of(id, plain);
}

}  // namespace

keyring::~keyring() {
    for (key& k : keys_) OPENSSL_cleanse(k.bytes.data(), k.bytes.size());
}

const keyring::key* keyring::find(std::string_view id) const noexcept {
    const auto at = std::ranges::find(keys_, id, &key::id);
    return at == keys_.end() ? nullptr : &*at;
}

keyring::loaded keyring::parse(std::string_view text) {
    loaded out;
    std::size_t number = 0;
    const auto wrong = [&](const char* what) {
        out.fault = "line " + std::to_string(number) + ": " + what;
        out.keys = {};
        return std::move(out);
    };
    while (!text.empty()) {
        ++number;
        const auto end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        line = trimmed(line.substr(0, line.find('#')));
        if (line.empty()) continue;
        const auto gap = line.find_first_of(white);
        if (gap == std::string_view::npos) return wrong("expected a name and 64 hexadecimal digits");
        const std::string_view id = line.substr(0, gap);
        auto bytes = digest_from_hex(trimmed(line.substr(gap)));
        if (!good_id(id)) return wrong("a name has 1 to 16 letters, digits, '-', '_' and '.'");
        if (!bytes) return wrong("a key is 64 hexadecimal digits in lower case, as `openssl rand -hex 32` gives them");
        if (out.keys.find(id)) return wrong("this name comes twice");
        out.keys.keys_.push_back({std::string(id), bytes->bytes});
        OPENSSL_cleanse(bytes->bytes.data(), bytes->bytes.size());
    }
    number = std::max<std::size_t>(number, 1);
    if (out.keys.keys_.empty()) return wrong("there is no key; expected a name and 64 hexadecimal digits");
    return out;
}

}  // namespace idem::cache
