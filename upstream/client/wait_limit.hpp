#pragma once
// The deadlines of an exchange as values: a point in time, and what to call it when it has passed.
#include <chrono>
#include <string>
#include <string_view>

#include "upstream/net/net.hpp"

namespace idem::upstream::client {

struct wait_limit {
    net::time_point at;
    net::duration length;
    std::string_view name;  // "first-byte", for the log
};

/// Saturates: duration::max() is never.
[[nodiscard]] inline net::time_point after(net::time_point now, net::duration d) noexcept {
    return d > net::time_point::max() - now ? net::time_point::max() : now + d;
}

/// "2 s", "0.25 s".
[[nodiscard]] inline std::string seconds(net::duration d) {
    std::string out = std::to_string(std::chrono::duration<double>(d).count());
    out.erase(out.find_last_not_of('0') + 1);
    if (out.ends_with('.')) out.pop_back();
    return out + " s";
}

}  // namespace idem::upstream::client
