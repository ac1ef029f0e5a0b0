#pragma once
// An HTTP proxy on the way to a server. Plain data; any thread.
#include <cstdint>
#include <string>

namespace idem::upstream::net {

struct proxy_settings {
    std::string host;  // empty: there is none
    std::uint16_t port = 0;
    std::string authorization;  // value of Proxy-Authorization; never logged
    explicit operator bool() const noexcept { return !host.empty(); }
    bool operator==(const proxy_settings&) const = default;
};

}  // namespace idem::upstream::net
