#pragma once
// How to ask a server whether it works on anything. A call that was given up may go on in the engine: only the engine
// can say when it has ended. Plain data and pure functions; any thread.
#include <cstdint>
#include <optional>
#include <string_view>

namespace idem::upstream::engine {

struct idle_probe {
    std::string_view path;  // of the server itself, not below /v1
    /// Calls that the engine works on or has queued, from the body of a 200; nullopt where it does not say.
    std::optional<std::uint64_t> (*running)(std::string_view body);
};

/// Null where the engine cannot be asked.
[[nodiscard]] const idle_probe* idle_probe_of(std::string_view engine) noexcept;

}  // namespace idem::upstream::engine
