#include "cache/redis/address.hpp"

#include <charconv>

#include "upstream/base/hex.hpp"

namespace idem::cache::redis {
namespace {

[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        if (i + 2 >= text.size()) {
            return std::nullopt;
        }
        const int high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
        if (high < 0 || low < 0) {
            return std::nullopt;
        }
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

template <class Number>
[[nodiscard]] bool parse_number(std::string_view text, Number& out) noexcept {
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
    return ec == std::errc{} && end == text.data() + text.size();
}

[[nodiscard]] std::string_view take_credentials(std::string_view rest, address& a, std::string& error) {
    const std::size_t slash = rest.find('/');
    const std::size_t at = rest.substr(0, slash).rfind('@');
    if (at == std::string_view::npos) {
        return rest;
    }
    const std::string_view info = rest.substr(0, at);
    const std::size_t colon = info.find(':');
    const auto user = percent_decoded(info.substr(0, colon));
    const auto password = percent_decoded(colon == std::string_view::npos ? "" : info.substr(colon + 1));
    if (!user || !password) {
        error = "broken percent-encoding in user or password";
        return rest;
    }
    a.user = *user;
    a.password = *password;
    return rest.substr(at + 1);
}

void parse_unix(std::string_view rest, address& a, std::string& error) {
    const std::size_t mark = rest.find('?');
    a.path = rest.substr(0, mark);
    if (a.path.size() < 2 || a.path[0] != '/') {
        error = "unix:// needs an absolute path, e.g. unix:///run/redis/redis.sock";
    } else if (a.path.size() > 107) {  // sockaddr_un(7)
        error = "socket path above 107 bytes";
    } else if (mark != std::string_view::npos) {
        const std::string_view query = rest.substr(mark + 1);
        if (!query.starts_with("db=") || !parse_number(query.substr(3), a.database)) {
            error = "only ?db=NUMBER may follow the path";
        }
    }
}

void parse_host(std::string_view rest, address& a, std::string& error) {
    const std::size_t slash = rest.find('/');
    std::string_view host = rest.substr(0, slash);
    const std::string_view database = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
    std::string_view port;
    if (host.starts_with('[')) {
        const std::size_t close = host.find(']');
        if (close == std::string_view::npos || (close + 1 < host.size() && host[close + 1] != ':')) {
            error = "broken IPv6 address";
            return;
        }
        port = close + 1 < host.size() ? host.substr(close + 2) : "";
        host = host.substr(1, close - 1);
    } else if (const std::size_t colon = host.find(':'); colon != std::string_view::npos) {
        port = host.substr(colon + 1);
        host = host.substr(0, colon);
    }
    a.host = host;
    if (host.empty()) {
        error = "no host";
    } else if (host.find_first_of(" \t\r\n?#@[]") != std::string_view::npos) {
        error = "a host cannot hold that character";
    } else if (!port.empty() && (!parse_number(port, a.port) || a.port == 0)) {
        error = "port must be 1 to 65535";
    } else if (!database.empty() && !parse_number(database, a.database)) {
        error = "what follows the host must be a database number";
    }
}

}  // namespace

std::string address::text() const {
    if (by == transport::unix_socket) {
        return "unix://" + path;
    }
    const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
    return (by == transport::tls ? "rediss://" : "redis://") + name + ":" + std::to_string(port);
}

std::optional<address> parse_address(std::string_view url, std::string& error) {
    const auto after = [&](std::string_view scheme) { return url.starts_with(scheme); };
    address a;
    std::string_view rest;
    if (after("redis://")) {
        rest = url.substr(8);
    } else if (after("rediss://")) {
        a.by = address::transport::tls;
        rest = url.substr(9);
    } else if (after("unix://")) {
        a.by = address::transport::unix_socket;
        rest = url.substr(7);
    } else {
        error = "needs redis://, rediss:// or unix://";
        return std::nullopt;
    }
    error.clear();
    rest = take_credentials(rest, a, error);
    if (error.empty()) {
        a.by == address::transport::unix_socket ? parse_unix(rest, a, error) : parse_host(rest, a, error);
    }
    if (!error.empty()) {
        return std::nullopt;
    }
    return a;
}

}  // namespace idem::cache::redis
