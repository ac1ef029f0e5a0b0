#pragma once
// Where Redis listens, from a URL: redis://[user[:password]@]host[:port][/database] (port 6379), rediss:// for TLS,
// unix://[user[:password]@]/path[?db=database]. User and password may be percent-encoded (RFC 3986, section 2.1). Pure;
// any thread.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace idem::cache::redis {

struct address {
    enum class transport : std::uint8_t { tcp, tls, unix_socket };
    transport by = transport::tcp;
    std::string host;  // IPv6 without brackets; empty with unix_socket
    std::uint16_t port = 6379;
    std::string path;  // with unix_socket
    std::string user, password;
    std::uint32_t database = 0;
    auto operator<=>(const address&) const = default;
    /// For logs: without user and password.
    [[nodiscard]] std::string text() const;
};

/// On failure returns nullopt and says why in `error`, without quoting the URL, which may hold a password.
[[nodiscard]] std::optional<address> parse_address(std::string_view url, std::string& error);

}  // namespace idem::cache::redis
