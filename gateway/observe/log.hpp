#pragma once
// The operational log on standard error: one line a message, as text or JSON. For what an operator should know, never
// for single requests; callers put no credential and no prompt into a message. Any thread; never blocks: a message that
// standard error cannot take at once is dropped and counted. Repeats of one event are limited.
#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <string>
#include <string_view>

namespace idem::gateway::observe {

enum class level : std::uint8_t { debug, info, warning, error };

/// `event` is a fixed word such as "store_unavailable": what messages are grouped by, and limited by together with
/// their level. Before configure_log() the log is at `info`, as text.
void log(level l, std::string_view event, std::string_view message) noexcept;

/// What escaped from a task, as the error "task_failed".
void log_escape(std::exception_ptr escaped) noexcept;

/// `least`: debug, info, warn or error. Call once, at start.
void configure_log(std::string_view least, bool json, int fd = 2);
/// Messages that were dropped because standard error was full, and repeats that were held back.
[[nodiscard]] std::uint64_t log_dropped() noexcept;

/// Which repeats of an event are written: `burst` at once, then one each `interval`, which tells how many were held
/// back. Pure; not thread-safe. Remembers at most 256 events.
class repeat_limit {
public:
    using time_point = std::chrono::steady_clock::time_point;
    explicit repeat_limit(std::uint64_t burst = 10, std::chrono::seconds interval = std::chrono::seconds(10))
        : burst_(burst), interval_(interval) {}

    struct answer {
        bool write = false;
        std::uint64_t held_back = 0;  // since the last one that was written
    };
    [[nodiscard]] answer ask(std::string_view event, time_point now);

private:
    struct state {
        std::uint64_t seen = 0, held_back = 0;
        time_point since{};
    };
    std::uint64_t burst_;
    std::chrono::seconds interval_;
    std::map<std::string, state, std::less<>> events_;
};

/// The line for one message, with its '\n'.
[[nodiscard]] std::string log_line(level l, std::string_view event, std::string_view message, std::uint64_t held_back,
                                   std::int64_t unix_us, bool json);

}  // namespace idem::gateway::observe
