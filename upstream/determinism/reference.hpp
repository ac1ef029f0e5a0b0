#pragma once
// Golden prompts, and the outputs that the replicas of an upstream are compared by. A reference belongs to one epoch
// and one set of prompts; an operator sets it, or the majority of the replicas at the first start. Pure; any thread.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "upstream/base/digest.hpp"

namespace idem::upstream::determinism {

/// What one golden prompt was answered with.
struct golden_output {
    digest output;                    // of the normalised output, with token ids where the engine tells them
    std::uint64_t prompt_tokens = 0;  // 0: the answer does not say
    auto operator<=>(const golden_output&) const = default;
};

/// All golden prompts on one replica, each run `runs` times.
struct attestation {
    enum class result : std::uint8_t {
        steady,   // every prompt gave one output
        flipped,  // some prompt gave two
        drifted,  // some prompt had two lengths: its template writes the time, or the like
        failed,   // some prompt got no usable answer
    } what = result::failed;
    std::vector<golden_output> outputs;  // of each prompt in order; with steady
    std::uint32_t runs = 0;              // of each prompt
    std::string detail{};                // which prompt, and how
    std::string fingerprint{};           // that the answers carried; empty where they carry none that means anything
    bool thorough = false;               // at greater length
};

/// Collects the runs of one attestation.
class attestation_run {
public:
    explicit attestation_run(std::vector<std::string> prompt_names) : names_(std::move(prompt_names)) {}
    /// The answer to prompt `index`. False: there is no need to go on.
    [[nodiscard]] bool take(std::size_t index, const golden_output& got);
    /// No usable answer to prompt `index`.
    void fail(std::size_t index, std::string_view why);
    [[nodiscard]] attestation finish(std::uint32_t runs) &&;

private:
    std::vector<std::string> names_;
    std::vector<std::optional<golden_output>> seen_;
    attestation made_{attestation::result::steady, {}, 0, {}};
};

struct reference {
    id128 epoch;
    digest prompts;  // of the golden set, as prompts_digest() has it
    std::vector<golden_output> outputs;
    std::string set_by;         // "majority" or "operator"
    std::string fingerprint{};  // of the answers; empty: none that means anything
    bool operator==(const reference&) const = default;
};

/// One golden prompt: a call of a model.
struct golden_prompt {
    std::string name;
    std::string path;
    std::string body;  // JSON, without model where `model_from_replica`
    bool operator==(const golden_prompt&) const = default;
};
[[nodiscard]] digest prompts_digest(std::span<const golden_prompt> prompts, std::string_view model);

/// moved: its answers carry another fingerprint, so it is another server, whatever it answers.
enum class comparison : std::uint8_t { matches, differs, drifted, moved };
/// `of` is steady. `detail` names the first prompt that differs.
[[nodiscard]] comparison compare(const attestation& of, const reference& with, std::span<const golden_prompt> prompts,
                                 std::string& detail);

/// One of those whose outputs more than half of `replicas` gave; `given` are the steady ones among them. Null: there is
/// none.
[[nodiscard]] const attestation* majority(std::span<const attestation* const> given, std::size_t replicas);

}  // namespace idem::upstream::determinism
