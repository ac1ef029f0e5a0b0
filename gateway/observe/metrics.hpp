#pragma once
// The metrics of the process: plain relaxed atomics, sharded by I/O thread so that no two threads write one cache line,
// and one function that writes the Prometheus text format. Names, types and labels are frozen in
// tests/golden/metrics.txt.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "upstream/base/reason.hpp"
#include "upstream/determinism/observation.hpp"

namespace idem::gateway::observe {

/// One finished request, for counters and histograms. `dialect` and `upstream` are bounded sets; `status` is grouped by
/// code.
struct request_sample {
    std::string_view dialect, upstream;
    unsigned status = 0;
    outcome what = outcome::bypass;
    reason why = reason::none;
    std::string_view tier;
    std::uint32_t duration_us = 0, ttfb_us = 0;
    std::uint64_t tokens_in = 0, tokens_out = 0;  // original usage, on hits the tokens that were saved
    std::uint32_t saved_ms = 0;                   // upstream time that a hit saved
};

/// `thread` is the index of the calling I/O thread, which alone writes that shard; any index from `threads` on stands
/// for all other threads, which share one shard behind a lock. The views are read during the call only.
class metrics {
public:
    explicit metrics(unsigned threads);
    ~metrics();
    void request(unsigned thread, const request_sample& s) noexcept;
    void upstream_request(unsigned thread, std::string_view upstream, unsigned status, std::uint32_t ms) noexcept;
    void upstream_error(unsigned thread, std::string_view upstream, reason why) noexcept;
    void store_error(unsigned thread, std::string_view tier, std::string_view operation, reason why) noexcept;
    void not_stored(unsigned thread, reason why) noexcept;  // an answer was complete or ended, and was not stored
    void stored(unsigned thread, std::string_view tier) noexcept;
    /// A fill gave another output than an earlier one of the same request; nothing for contrast::same.
    void output_changed(unsigned thread, std::string_view upstream, upstream::determinism::contrast c) noexcept;
    /// What came of an entry in memory that the second tier had not confirmed since it was lost.
    void confirmed(unsigned thread, std::string_view result) noexcept;
    /// A record of the ledger was written, failed or dropped.
    void ledger(unsigned thread, std::string_view result) noexcept;
    /// Values read at scrape time: gauges and counters that others keep (tiers, connections, flights, breaker, log).
    void provide(std::string_view name, std::string_view help, std::string_view type, std::string_view labels,
                 std::function<double()> read);
    /// Prometheus text format 0.0.4, or OpenMetrics where `open_metrics`.
    [[nodiscard]] std::string scrape(bool open_metrics) const;
    /// For /admin/v1/stats: requests by outcome and by reason.
    [[nodiscard]] std::uint64_t total(outcome o) const noexcept;
    [[nodiscard]] std::uint64_t total(reason r) const noexcept;

    struct impl;

private:
    std::unique_ptr<impl> impl_;
};

}  // namespace idem::gateway::observe
