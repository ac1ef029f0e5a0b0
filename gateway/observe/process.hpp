#pragma once
// The process as the operating system sees it, for the process_* metrics. Reads /proc; any thread; at scrape only.
#include <cstdint>

namespace idem::gateway::observe {

struct process_figures {
    double cpu_seconds = 0, start_time_seconds = 0;  // start: seconds since the Unix epoch
    std::uint64_t resident_bytes = 0, virtual_bytes = 0, open_fds = 0, max_fds = 0;
};
[[nodiscard]] process_figures read_process();

}  // namespace idem::gateway::observe
