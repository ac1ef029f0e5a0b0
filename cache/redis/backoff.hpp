#pragma once
// When to connect again. Pure; randomness is an argument.
#include <algorithm>
#include <chrono>
#include <cstdint>

namespace idem::cache::redis {

/// Nothing after the first failure in a row: a connection that Redis closed for being idle, or a restart, costs one
/// round trip. Then 20 ms, doubled up to 500 ms, of which half is random, so that many gateways do not return in step.
[[nodiscard]] inline std::chrono::milliseconds reconnect_delay(std::uint32_t failures, std::uint32_t random) noexcept {
    if (failures <= 1) {
        return std::chrono::milliseconds(0);
    }
    const std::uint32_t full = std::min(500u, 20u << std::min(failures - 2, 5u));
    return std::chrono::milliseconds(full / 2 + random % (full / 2 + 1));
}

}  // namespace idem::cache::redis
