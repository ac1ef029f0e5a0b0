#pragma once
// One line of the ledger: which output a request was answered with, where, and what that answer was worth. No prompt,
// no answer, no credential. Equal fills share a record, which counts them, so that a prompt that always gets one answer
// costs one record however often it is computed. Pure; any thread.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cache/entry/entry.hpp"
#include "upstream/base/digest.hpp"
#include "upstream/determinism/guarantee.hpp"
#include "upstream/determinism/observation.hpp"

namespace idem::cache {

/// Different records kept of one request; beyond it the one seen longest ago goes. What is sampled fills it, what is
/// reproducible needs one or two.
inline constexpr std::size_t ledger_records_a_request = 16;
inline constexpr std::size_t longest_ledger_upstream = 256;

struct ledger_record {
    digest request;        // request digest
    std::string upstream;  // its name, cut at longest_ledger_upstream
    id128 epoch;
    digest output;       // SHA-256 of the normalised output
    digest environment;  // environment id
    upstream::determinism::guarantee promise;
    bool sampled = false;  // nothing made the answer repeatable
    unix_ms first = 0;     // when such a fill was complete for the first and the last time
    unix_ms last = 0;
    std::uint64_t fills = 1;

    [[nodiscard]] upstream::determinism::observation seen() const {
        return {output, environment, promise.what, sampled};
    }
    /// Whether a fill like that is counted in this record.
    [[nodiscard]] bool same_kind(const ledger_record& o) const noexcept;
    bool operator==(const ledger_record&) const = default;
};

/// What a new fill is to be compared with, of what is known of its request: the latest of the same upstream in the same
/// environment, one with a guarantee before others if the fill has one; else the latest of the same upstream. Null:
/// nothing.
[[nodiscard]] const ledger_record* counterpart(std::span<const ledger_record> known, const ledger_record& fill);
/// same, also where there is nothing to compare with.
[[nodiscard]] upstream::determinism::contrast contrast_with(std::span<const ledger_record> known,
                                                            const ledger_record& fill);

/// "<epoch> <output> <environment> <guarantee> <mode> <s|r> <upstream> " in hexadecimal and words: what same_kind()
/// compares, without blanks in the upstream's name.
[[nodiscard]] std::string ledger_kind(const ledger_record& r);
/// The kind, then "<first> <last> <fills> <runs>".
[[nodiscard]] std::string encode_ledger_line(const ledger_record& r);
/// Nothing for a line of another format.
[[nodiscard]] std::optional<ledger_record> decode_ledger_line(const digest& request, std::string_view line);

}  // namespace idem::cache
