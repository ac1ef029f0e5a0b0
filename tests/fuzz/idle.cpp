// What engines are said to answer when they are asked whether they are idle: any bytes give a number or nothing, and
// more text behind a whole page of metrics never makes an engine that was at work look idle.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "upstream/engine/idle.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const std::string_view engine : {"llamacpp", "sglang", "vllm"}) {
        const auto* probe = idem::upstream::engine::idle_probe_of(engine);
        const auto running = probe->running(text);
        if (engine != "vllm" || !running) continue;
        const auto more = probe->running(std::string(text) + "\nvllm:num_requests_running 1\n");
        if (!more || *more != *running + 1) std::abort();
    }
    return 0;
}
