#pragma once
// How a call that asks for many things at once comes apart into calls for one, and its answer into theirs, where each
// thing is answered by itself: the inputs of an embeddings call. Sans-I/O, const, any thread.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace idem::upstream::dialect {

class batching {
public:
    /// More things in one call are not taken apart.
    static constexpr std::size_t most_items = 2048;

    virtual ~batching() = default;
    /// What the call asks for: each as raw JSON, in order, views into the body. Empty where it does not come apart.
    [[nodiscard]] virtual std::vector<std::string_view> items(std::string_view body) const = 0;
    /// What the things of a call share: the canonical body without them.
    [[nodiscard]] virtual std::string without_items(std::string_view canonical) const = 0;
    /// By what a count of tokens is shared out; at least 1.
    [[nodiscard]] virtual std::uint32_t weight(std::string_view item) const = 0;
    /// The body with these things instead of its own, all other bytes unchanged.
    [[nodiscard]] virtual std::string asking_for(std::string_view body,
                                                 std::span<const std::string_view> items) const = 0;
    /// What each of the things would have been answered alone, of the answer to them all: raw text is kept, counts of
    /// tokens are shared out by weight, an estimate whose sum is exact. nullopt if there is not exactly one for each,
    /// or if there is so much beside them that each would repeat.
    [[nodiscard]] virtual std::optional<std::vector<std::string>> split_answer(
        std::string_view answer, std::span<const std::uint32_t> weights) const = 0;
    /// The answer to a call for things that were answered alone, in that order: what they have in common is told as the
    /// first tells it, counts of tokens are summed. nullopt if one of them is no answer to one thing.
    [[nodiscard]] virtual std::optional<std::string> join_answers(std::span<const std::string_view> answers) const = 0;
};

}  // namespace idem::upstream::dialect
