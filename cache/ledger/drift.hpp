#pragma once
// How many prompts got another answer in one epoch than in another. Pure; one thread.
#include <cstdint>
#include <optional>
#include <span>

#include "cache/ledger/record.hpp"

namespace idem::cache {

struct drift_report {
    std::uint64_t both = 0;     // prompts that were answered in both epochs
    std::uint64_t changed = 0;  // of these, with another output; the three below add up to it
    std::uint64_t divergences = 0, drifts = 0, variations = 0;
    std::uint64_t only_before = 0, only_after = 0;
    bool operator==(const drift_report&) const = default;
};

/// The answer of an epoch is the first one, which is the one that was stored and served.
class drift_counter {
public:
    drift_counter(id128 before, id128 after) : before_(before), after_(after) {}
    /// All records of one request.
    void take(std::span<const ledger_record> of_one_request);
    /// Records of many requests, each request's together.
    void take_all(std::span<const ledger_record> records);
    [[nodiscard]] const drift_report& report() const noexcept { return report_; }

private:
    const id128 before_, after_;
    drift_report report_;
};

}  // namespace idem::cache
