#include "gateway/app/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <string>

namespace idem::gateway::app {

std::optional<unsigned> cores_of_cpu_max(std::string_view text) noexcept {
    std::uint64_t quota = 0, period = 0;
    const char* end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, quota);
    if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ' ') return std::nullopt;
    const auto second = std::from_chars(first.ptr + 1, end, period);
    if (second.ec != std::errc{} || period == 0 || quota == 0) return std::nullopt;
    return static_cast<unsigned>(std::min<std::uint64_t>((quota + period - 1) / period, 1024));
}

unsigned usable_cores() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    unsigned cores = 1;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) cores = static_cast<unsigned>(CPU_COUNT(&allowed));
    std::ifstream limit("/sys/fs/cgroup/cpu.max");
    std::string text;
    if (limit && std::getline(limit, text)) cores = std::min(cores, cores_of_cpu_max(text).value_or(cores));
    return std::max(1u, cores);
}

}  // namespace idem::gateway::app
