#include "upstream/http/request_target.hpp"

#include <algorithm>

#include "upstream/base/hex.hpp"
#include "upstream/http/characters.hpp"

namespace idem::upstream::http {
namespace {

constexpr bool is_hex(char c) noexcept {
    return hex_value(c) >= 0;
}
constexpr bool is_alnum(char c) noexcept {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr bool is_reg_name(std::string_view s) noexcept {
    for (std::size_t i = 0; i < s.size(); ++i) {
        const char c = s[i];
        if (c == '%') {
            if (i + 2 >= s.size() || !is_hex(s[i + 1]) || !is_hex(s[i + 2])) return false;
        } else if (!is_alnum(c) && std::string_view("-._~!$&'()*+,;=").find(c) == std::string_view::npos) {
            return false;
        }
    }
    return !s.empty();
}

constexpr bool is_ip_literal(std::string_view s) noexcept {
    return !s.empty() && std::ranges::all_of(s, [](char c) { return is_hex(c) || c == ':' || c == '.'; });
}

bool starts_with_scheme(std::string_view s, std::string_view scheme) noexcept {
    return s.size() >= scheme.size() && iequals(s.substr(0, scheme.size()), scheme);
}

}  // namespace

bool valid_host(std::string_view host) noexcept {
    std::string_view port;
    if (host.starts_with('[')) {
        const std::size_t close = host.find(']');
        if (close == std::string_view::npos || !is_ip_literal(host.substr(1, close - 1))) return false;
        port = host.substr(close + 1);
    } else {
        const std::size_t colon = std::min(host.find(':'), host.size());
        if (!is_reg_name(host.substr(0, colon))) return false;
        port = host.substr(colon);
    }
    if (port.empty()) return true;
    port.remove_prefix(1);
    return host[host.size() - port.size() - 1] == ':' && port.size() <= 5 && std::ranges::all_of(port, is_digit);
}

verdict normalise_target(std::string_view method, std::string& target) {
    if (method == "CONNECT") return {reason::bad_request, "CONNECT is not offered here"};
    for (const char c : target) {
        if (c < '!' || c > '~') return {reason::bad_request, "the request target holds a byte that must be escaped"};
        if (c == '#') return {reason::bad_request, "the request target holds a fragment"};
    }
    if (target.starts_with('/')) return {};
    if (target == "*") {
        if (method == "OPTIONS") return {};
        return {reason::bad_request, "the target \"*\" is for OPTIONS only"};
    }
    std::size_t after = 0;
    if (starts_with_scheme(target, "http://")) after = 7;
    if (starts_with_scheme(target, "https://")) after = 8;
    if (after == 0) return {reason::bad_request, "the request target is neither a path nor an absolute URL"};
    const std::size_t path = std::min(target.find_first_of("/?", after), target.size());
    if (!valid_host(std::string_view(target).substr(after, path - after))) {
        return {reason::bad_request, "the authority in the request target is malformed"};
    }
    if (path == target.size() && method == "OPTIONS") {
        target = "*";
    } else if (path == target.size() || target[path] == '?') {
        target.replace(0, path, "/");
    } else {
        target.erase(0, path);
    }
    return {};
}

}  // namespace idem::upstream::http
