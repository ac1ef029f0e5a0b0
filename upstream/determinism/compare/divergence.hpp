#pragma once
// Where two outputs part, and on which rung they still agree. Pure; any thread.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "upstream/determinism/compare/tokens.hpp"

namespace idem::upstream::determinism {

/// The first place at which two lists differ: the end of the shorter one where it begins the other. Absent: equal.
[[nodiscard]] std::optional<std::size_t> first_difference(std::span<const token> a, std::span<const token> b) noexcept;

/// The first difference of two texts.
struct parting {
    std::size_t byte = 0, character = 0, token = 0;  // positions, from 0; `token` by pieces_of()
    std::string before;                              // what both say just before it
    std::string a, b;                                // how each goes on; cut at characters
};
/// Absent: the texts are equal, byte for byte. `excerpt`: bytes of each excerpt at most.
[[nodiscard]] std::optional<parting> part_of(std::string_view a, std::string_view b, std::size_t excerpt = 60);

/// What two answers still have in common; each rung includes those above it. Only `normalised` decides anything.
enum class rung : std::uint8_t {
    bytes,       // the same bytes
    normalised,  // the same but for ids, times and usage
    canonical,   // JSON of the same value, also as a text or as arguments in it: order and white space differ
    task,        // what the prompt is after is the same: task.hpp
    semantic,    // vectors that a model makes of them lie close together
    none,        // another answer; whether it means the same is not judged
};
[[nodiscard]] std::string_view to_string(rung r) noexcept;  // bytes, …, canonical-json, task, …
/// Whether two JSON texts have one value, where order of members, white space and the spelling of numbers and texts do
/// not count, nor token ids, which follow from the spelling. A text in them that is itself JSON is taken as that.
[[nodiscard]] bool same_json(std::string_view a, std::string_view b);
/// As far as the texts themselves tell: never task or semantic. Of raw answers and their normalised outputs, which are
/// empty where an answer could not be read.
[[nodiscard]] rung common_rung(std::string_view raw_a, std::string_view raw_b, std::string_view normal_a,
                               std::string_view normal_b);

/// How far the log-probabilities of two runs lie apart where they chose the same tokens: an engine drifts there before
/// a token flips.
struct drift_of_logprobs {
    std::size_t compared = 0;   // positions
    std::size_t differing = 0;  // of these, not the same to the last bit
    double largest = 0, mean = 0;
};
/// Compares up to the first difference of the tokens, or the end of the shortest list.
[[nodiscard]] drift_of_logprobs compare_logprobs(std::span<const token> tokens_a, std::span<const double> a,
                                                 std::span<const token> tokens_b, std::span<const double> b) noexcept;

}  // namespace idem::upstream::determinism
