#pragma once
// How many I/O threads this process should have: what the scheduler and the cgroup leave it, not what the host has.
#include <optional>
#include <string_view>

namespace idem::gateway::app {

/// cgroup v2 `cpu.max` ("200000 100000" is two cores; "max …" is no limit), rounded up; nullopt without a limit.
[[nodiscard]] std::optional<unsigned> cores_of_cpu_max(std::string_view text) noexcept;
/// At least 1.
[[nodiscard]] unsigned usable_cores();

}  // namespace idem::gateway::app
