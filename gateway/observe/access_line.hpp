#pragma once
// One line of the access log: JSON, ASCII controls escaped, broken UTF-8 replaced, long texts cut. The fields are
// documented in gateway/README.md and frozen in tests/golden/access_log.txt. Pure.
#include <cstdint>
#include <string>
#include <string_view>

#include "gateway/observe/access_log.hpp"

namespace idem::gateway::observe {

/// Remembers the text of the last second, which most lines share. One a thread.
struct clock_text {
    std::int64_t second = -1;
    char text[20] = {};  // "2026-11-30T13:00:00"
};

/// Appends the line with its '\n'. Allocates only if `out` must grow.
void append_access_line(std::string& out, const access_record& r, clock_text& clock);

/// Appends `text` inside quotes as JSON, cut after `cap` bytes at a character's boundary.
void append_json_text(std::string& out, std::string_view text, std::size_t cap);
/// Appends "2026-11-30T13:00:00.123Z" (RFC 3339).
void append_time(std::string& out, std::int64_t unix_us, clock_text& clock);

}  // namespace idem::gateway::observe
