#include "upstream/engine/idle.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "upstream/dialect/json_parse.hpp"

namespace idem::upstream::engine {

namespace {

namespace dom = simdjson::dom;
using count = std::optional<std::uint64_t>;

// GET /slots: an array with `is_processing` for each slot (tools/server/README.md).
count llamacpp_running(std::string_view body) {
    dom::array slots;
    if (dialect::parse_copied(body).get_array().get(slots) != simdjson::SUCCESS) return std::nullopt;
    std::uint64_t busy = 0, seen = 0;
    for (const dom::element slot : slots) {
        bool at_work = false;
        if (slot["is_processing"].get_bool().get(at_work) != simdjson::SUCCESS) return std::nullopt;
        busy += at_work ? 1 : 0;
        ++seen;
    }
    return seen > 0 ? count(busy) : std::nullopt;
}

// The sum of a gauge over its labels, in the Prometheus text format; nullopt where it does not occur.
count gauge(std::string_view text, std::string_view name) {
    count sum;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (!line.starts_with(name)) continue;
        line.remove_prefix(name.size());
        if (line.empty() || (line.front() != '{' && line.front() != ' ')) continue;
        const auto blank = line.rfind(' ');
        if (blank == std::string_view::npos) continue;
        const std::string_view number = line.substr(blank + 1);
        double value = 0;
        const auto [rest, ec] = std::from_chars(number.data(), number.data() + number.size(), value);
        if (ec != std::errc{} || !(value >= 0) || value > 1e9) return std::nullopt;
        sum = sum.value_or(0) + static_cast<std::uint64_t>(std::ceil(value));
    }
    return sum;
}

// GET /metrics; GET /load counts only under --enable-server-load-tracking. Both gauges are of the engine's last step:
// where a step ended nothing but the calls that were aborted they may stay up until the next one (vllm #22545, #29928).
count vllm_running(std::string_view body) {
    const count running = gauge(body, "vllm:num_requests_running"), waiting = gauge(body, "vllm:num_requests_waiting");
    return running && waiting ? count(*running + *waiting) : std::nullopt;
}

// GET /v1/loads: a list with one element a data-parallel rank.
count sglang_running(std::string_view body) {
    dom::array ranks;
    if (dialect::parse_copied(body)["loads"].get_array().get(ranks) != simdjson::SUCCESS) return std::nullopt;
    std::uint64_t sum = 0, seen = 0;
    for (const dom::element rank : ranks) {
        std::uint64_t running = 0, waiting = 0;
        if (rank["num_running_reqs"].get_uint64().get(running) != simdjson::SUCCESS) return std::nullopt;
        if (rank["num_waiting_reqs"].get_uint64().get(waiting) != simdjson::SUCCESS) return std::nullopt;
        sum += running + waiting;
        ++seen;
    }
    return seen > 0 ? count(sum) : std::nullopt;
}

constexpr std::array<std::pair<std::string_view, idle_probe>, 3> probes{{
    {"llamacpp", {"/slots", llamacpp_running}},
    {"sglang", {"/v1/loads", sglang_running}},
    {"vllm", {"/metrics", vllm_running}},
}};

}  // namespace

const idle_probe* idle_probe_of(std::string_view engine) noexcept {
    for (const auto& [name, probe] : probes)
        if (name == engine) return &probe;
    return nullptr;
}

}  // namespace idem::upstream::engine
