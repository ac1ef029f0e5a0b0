#pragma once
// One JSON line per request on standard output; never prompts, never credentials. A line is formatted on the I/O thread
// into that thread's buffer and written by one writer thread, so a blocked standard output stalls nobody: lines beyond
// the queue's cap are dropped and counted.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "upstream/base/digest.hpp"
#include "upstream/base/reason.hpp"

namespace idem::gateway::observe {

/// What happened to one request. Views are read during log() only.
struct access_record {
    std::int64_t unix_us = 0;       // when the head was there
    std::string_view request_id;    // the x-request-id that the client got
    std::string_view client;        // address
    std::string_view method, path;  // path without query
    std::string_view dialect, model, upstream, replica, route, policy;
    unsigned status = 0;
    bool stream = false, aborted = false;
    outcome what = outcome::bypass;
    reason why = reason::none;
    std::string_view tier;     // memory | embedded | redis, on a hit
    std::string_view key_hex;  // first 16 hex digits
    std::int64_t age_s = -1;   // on a hit
    std::uint64_t bytes_in = 0, bytes_out = 0;
    std::uint32_t duration_us = 0, ttfb_us = 0;
    unsigned upstream_status = 0;  // 0: upstream was not asked
    std::uint32_t upstream_ms = 0, retries = 0;
    std::uint64_t tokens_in = 0, tokens_out = 0;
};

class access_log {
public:
    explicit access_log(bool enabled, int fd = 1);
    ~access_log();  // writes what is queued, waits at most a second
    /// From the I/O thread with that index (0 … threads-1); one caller per index at a time.
    void log(unsigned thread, const access_record& r) noexcept;
    /// Hands the thread's partial buffer to the writer; called by a 100 ms tick and at the end.
    void flush(unsigned thread) noexcept;
    [[nodiscard]] std::uint64_t dropped() const noexcept;

    struct impl;

private:
    std::unique_ptr<impl> impl_;
};

}  // namespace idem::gateway::observe
