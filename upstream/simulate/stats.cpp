#include "upstream/simulate/stats.hpp"

#include <algorithm>

namespace idem::upstream::simulate {

void counters::request(std::string_view path) noexcept {
    if (path.starts_with("/v1/models/")) path = "/v1/models";
    const auto found = std::find(paths.begin(), paths.end() - 1, path);
    requests_[static_cast<std::size_t>(found - paths.begin())].fetch_add(1, std::memory_order_relaxed);
}

void counters::call_begins() noexcept {
    calls_.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t now = current_.fetch_add(1, std::memory_order_relaxed) + 1;
    std::uint64_t peak = peak_.load(std::memory_order_relaxed);
    while (peak < now && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) continue;
}

void counters::probed(bool generated) noexcept {
    probes_.fetch_add(1, std::memory_order_relaxed);
    if (generated) generated_.fetch_add(1, std::memory_order_relaxed);
}

simulate_stats counters::snapshot() const noexcept {
    simulate_stats s;
    s.calls = calls_.load(std::memory_order_relaxed);
    s.current = current_.load(std::memory_order_relaxed);
    s.peak = peak_.load(std::memory_order_relaxed);
    s.failed = failed_.load(std::memory_order_relaxed);
    s.cut = cut_.load(std::memory_order_relaxed);
    s.abandoned = abandoned_.load(std::memory_order_relaxed);
    s.probes = probes_.load(std::memory_order_relaxed);
    s.generated = generated_.load(std::memory_order_relaxed);
    s.resets = resets_.load(std::memory_order_relaxed);
    return s;
}

std::string counters::json() const {
    const simulate_stats s = snapshot();
    std::string out = R"({"calls":)" + std::to_string(s.calls) + R"(,"paths":{)";
    for (std::size_t i = 0; i < paths.size(); ++i) {
        out += i > 0 ? ",\"" : "\"";
        out.append(paths[i]).append("\":").append(std::to_string(requests_[i].load(std::memory_order_relaxed)));
    }
    out += R"(},"concurrency":{"current":)" + std::to_string(s.current) + R"(,"peak":)" + std::to_string(s.peak);
    out += R"(},"failed":)" + std::to_string(s.failed) + R"(,"cut":)" + std::to_string(s.cut);
    out += R"(,"abandoned":)" + std::to_string(s.abandoned);
    out += R"(,"health":{"probes":)" + std::to_string(s.probes) + R"(,"generated":)" + std::to_string(s.generated);
    out += R"(},"resets":)" + std::to_string(s.resets) + "}";
    return out;
}

}  // namespace idem::upstream::simulate
