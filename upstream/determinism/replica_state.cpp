#include "upstream/determinism/replica_state.hpp"

#include <algorithm>
#include <array>

namespace idem::upstream::determinism {

namespace {

constexpr std::array<std::string_view, replica_states> state_words = {"probing", "admitted", "quarantined", "down",
                                                                      "draining"};
constexpr std::array<std::string_view, 16> cause_words = {"none",
                                                          "starting",
                                                          "suspect",
                                                          "returned",
                                                          "unreachable",
                                                          "unhealthy",
                                                          "awaiting_epoch",
                                                          "awaiting_reference",
                                                          "attestation_failed",
                                                          "locked_fact_differs",
                                                          "environment_changed",
                                                          "output_differs",
                                                          "output_flipped",
                                                          "answers_diverged",
                                                          "prompt_drift",
                                                          "operator_order"};
static_assert(static_cast<std::size_t>(cause::operator_order) + 1 == cause_words.size());

template <class Enum, class Words>
std::optional<Enum> from_word(const Words& words, std::string_view word) noexcept {
    const auto at = std::ranges::find(words, word);
    if (at == words.end()) return std::nullopt;
    return static_cast<Enum>(at - words.begin());
}

}  // namespace

std::string_view to_string(replica_state s) noexcept {
    return state_words[static_cast<std::size_t>(s)];
}

std::string_view to_string(cause c) noexcept {
    return cause_words[static_cast<std::size_t>(c)];
}

std::optional<replica_state> state_from(std::string_view word) noexcept {
    return from_word<replica_state>(state_words, word);
}

std::optional<cause> cause_from(std::string_view word) noexcept {
    return from_word<cause>(cause_words, word);
}

condition unwatched_condition() {
    condition c;
    c.state = replica_state::admitted;
    c.why = cause::none;
    return c;
}

}  // namespace idem::upstream::determinism
