#pragma once
// The words for what a replica is and why. Plain values; any thread.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "upstream/base/digest.hpp"
#include "upstream/determinism/environment.hpp"

namespace idem::upstream::determinism {

enum class replica_state : std::uint8_t {
    probing,      // looked at, not yet known to be good
    admitted,     // healthy, in the epoch's environment, repeats the reference
    quarantined,  // answers, but not as it should
    down,         // does not answer
    draining,     // taken out by an operator
};
inline constexpr std::size_t replica_states = 5;

enum class cause : std::uint8_t {
    none,
    starting,             // nothing has been asked yet
    suspect,              // a request could not reach it: it may have been restarted
    returned,             // it answers again, or is as it was again
    unreachable,          // the health probe got no answer
    unhealthy,            // the health probe was answered with a failure
    awaiting_epoch,       // the upstream's epoch is not known yet
    awaiting_reference,   // no reference outputs yet, and no majority to set them
    attestation_failed,   // a golden prompt got no usable answer
    locked_fact_differs,  // a locked fact is another, or nobody can tell it
    environment_changed,  // its facts are not those of the epoch
    output_differs,       // a golden prompt's output is not the reference's
    output_flipped,       // two runs of one golden prompt differ
    answers_diverged,     // live answers, run again, came out otherwise too often
    prompt_drift,         // a golden prompt has another number of tokens: template or tokenizer changed
    operator_order,       // by hand
};

[[nodiscard]] std::string_view to_string(replica_state s) noexcept;
[[nodiscard]] std::string_view to_string(cause c) noexcept;
/// nullopt: no such word.
[[nodiscard]] std::optional<replica_state> state_from(std::string_view word) noexcept;
[[nodiscard]] std::optional<cause> cause_from(std::string_view word) noexcept;

/// What everybody may know of a replica.
struct condition {
    replica_state state = replica_state::probing;
    cause why = cause::starting;
    std::string detail;       // for people: which fact, which prompt
    std::uint32_t runs = 0;   // golden runs in a row that gave the reference's outputs, since it was admitted
    bool diverging = false;   // it does not repeat the reference, and too many others do not either
    std::string fingerprint;  // that its answers carry; empty where they carry none that means anything
    std::int64_t since = 0;   // Unix milliseconds of the last change of state
    digest environment = unwatched_environment();
    std::shared_ptr<const determinism::environment> facts;  // null: not read
};

/// Where no state of a replica is watched, every replica is as good as the next.
[[nodiscard]] condition unwatched_condition();

}  // namespace idem::upstream::determinism
