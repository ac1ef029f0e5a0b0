#pragma once
// What is known of one complete answer apart from its text, and what it means that two answers to one request digest
// are not the same. Pure; any thread.
#include <cstdint>
#include <string_view>

#include "upstream/base/digest.hpp"
#include "upstream/determinism/environment.hpp"
#include "upstream/determinism/guarantee.hpp"

namespace idem::upstream::determinism {

struct observation {
    digest output;                                 // SHA-256 of the normalised output
    digest environment = unwatched_environment();  // environment id; of a hosted API nobody knows more than that
    level promise = level::none;
    /// Nothing made the answer repeatable: a temperature above zero without a seed.
    bool sampled = false;
    bool operator==(const observation&) const = default;
};

enum class contrast : std::uint8_t {
    same,        // one output
    divergence,  // two outputs in one environment, each with a guarantee: the guarantee did not hold
    drift,       // two outputs across environments, of requests that could have been repeated
    variation,   // two outputs where nothing promised one: sampled, hosted, or without a guarantee
};
[[nodiscard]] std::string_view to_string(contrast c) noexcept;
inline constexpr std::size_t contrasts = 4;

/// Symmetric. Only a divergence says anything against a replica.
[[nodiscard]] contrast contrast_of(const observation& a, const observation& b) noexcept;

}  // namespace idem::upstream::determinism
