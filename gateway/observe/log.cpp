#include "gateway/observe/log.hpp"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "gateway/observe/access_line.hpp"

namespace idem::gateway::observe {

namespace {

constexpr std::size_t event_cap = 64, message_cap = 2048;
constexpr std::size_t most_events = 256;

std::string_view word(level l) {
    switch (l) {
        case level::debug:
            return "debug";
        case level::info:
            return "info";
        case level::warning:
            return "warn";
        case level::error:
            return "error";
    }
    return {};
}

// One a process, never destroyed: threads may still log while static objects go.
struct sink {
    std::atomic<level> least{level::info};
    std::atomic<bool> json{false};
    std::atomic<int> fd{2};
    std::atomic<std::uint64_t> dropped{0};
    std::mutex mutex;
    repeat_limit limit;
};
sink& the_sink() {
    static auto* const s = new sink;
    return *s;
}

}  // namespace

repeat_limit::answer repeat_limit::ask(std::string_view event, time_point now) {
    auto it = events_.find(event);
    if (it == events_.end()) {
        if (events_.size() >= most_events) events_.clear();
        it = events_.emplace(std::string(event), state{.since = now}).first;
    }
    state& s = it->second;
    if (now - s.since >= interval_) {
        const answer a{true, s.held_back};
        // One a period while the storm lasts; a quiet period gives the burst back.
        s = {.seen = s.seen > burst_ ? burst_ : 1, .since = now};
        if (a.held_back == 0) s.seen = 1;
        return a;
    }
    if (++s.seen <= burst_) return {true, 0};
    ++s.held_back;
    return {};
}

std::string log_line(level l, std::string_view event, std::string_view message, std::uint64_t held_back,
                     std::int64_t unix_us, bool json) {
    clock_text clock;
    std::string out;
    if (json) {
        out = "{\"ts\":\"";
        append_time(out, unix_us, clock);
        out.append("\",\"level\":\"").append(word(l)).append("\",\"event\":");
        append_json_text(out, event, event_cap);
        out += ",\"msg\":";
        append_json_text(out, message, message_cap);
        if (held_back > 0) out += ",\"repeats_held_back\":" + std::to_string(held_back);
        return out + "}\n";
    }
    append_time(out, unix_us, clock);
    out.append(" ").append(word(l)).append(" ").append(event.substr(0, event_cap));
    if (!message.empty()) out += ": ";
    for (const char c : message.substr(0, message_cap)) {
        const auto u = static_cast<unsigned char>(c);
        out += u < 0x20 || u == 0x7F ? ' ' : c;  // no second line, no terminal controls
    }
    if (held_back > 0) out += " (" + std::to_string(held_back) + " more like this were held back)";
    return out + "\n";
}

void log(level l, std::string_view event, std::string_view message) noexcept {
    sink& s = the_sink();
    if (l < s.least.load(std::memory_order_relaxed)) return;
    const auto wall =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch());
    // By level: what is usual of an event must not use up what is left for its warnings.
    const std::string repeated = std::string(word(l)) + " " + std::string(event);
    const std::lock_guard lock(s.mutex);
    const auto allowed = s.limit.ask(repeated, std::chrono::steady_clock::now());
    if (!allowed.write) {
        s.dropped.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    const auto line = log_line(l, event, message, allowed.held_back, wall.count(), s.json);
    pollfd p{s.fd, POLLOUT, 0};
    const bool written =
        poll(&p, 1, 0) == 1 && write(s.fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    if (!written) s.dropped.fetch_add(1, std::memory_order_relaxed);
}

void log_escape(std::exception_ptr escaped) noexcept {
    try {
        std::rethrow_exception(std::move(escaped));
    } catch (const std::exception& e) {
        log(level::error, "task_failed", e.what());
    } catch (...) {
        log(level::error, "task_failed", "not a std::exception");
    }
}

void configure_log(std::string_view least, bool json, int fd) {
    sink& s = the_sink();
    for (const auto l : {level::debug, level::info, level::warning, level::error}) {
        if (word(l) == least) s.least = l;
    }
    s.json = json;
    s.fd = fd;
}

std::uint64_t log_dropped() noexcept {
    return the_sink().dropped.load(std::memory_order_relaxed);
}

}  // namespace idem::gateway::observe
