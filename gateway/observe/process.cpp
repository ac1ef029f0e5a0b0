#include "gateway/observe/process.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace idem::gateway::observe {

namespace {

std::int64_t microseconds(const timeval& t) {
    return std::int64_t{t.tv_sec} * 1'000'000 + t.tv_usec;
}

// Field 22 of /proc/self/stat counts ticks from boot; the name in field 2 may hold spaces, so fields are counted behind
// it.
double start_time() {
    std::ifstream in("/proc/self/stat");
    std::string line;
    std::getline(in, line);
    const auto name_end = line.rfind(')');
    if (name_end == std::string::npos) return 0;
    std::istringstream fields(line.substr(name_end + 1));
    std::string word;
    for (int field = 3; field <= 22; ++field) fields >> word;
    double boot = 0;
    std::ifstream stat("/proc/stat");
    while (stat >> line) {
        if (line == "btime") {
            stat >> boot;
            break;
        }
    }
    return boot + std::strtod(word.c_str(), nullptr) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

process_figures read_process() {
    static const double started = start_time();
    process_figures out;
    out.start_time_seconds = started;
    rusage usage{};
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        out.cpu_seconds = static_cast<double>(microseconds(usage.ru_utime) + microseconds(usage.ru_stime)) / 1e6;
    std::ifstream statm("/proc/self/statm");
    std::uint64_t size = 0, resident = 0;
    if (statm >> size >> resident) {
        const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
        out.virtual_bytes = size * page;
        out.resident_bytes = resident * page;
    }
    std::error_code ec;
    for (auto it = std::filesystem::directory_iterator("/proc/self/fd", ec);
         it != std::filesystem::directory_iterator(); it.increment(ec)) {
        if (ec) break;
        ++out.open_fds;
    }
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) out.max_fds = limit.rlim_cur;
    return out;
}

}  // namespace idem::gateway::observe
