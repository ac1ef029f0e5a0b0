#pragma once
// How many insertions, deletions and substitutions make one list of tokens another (Levenshtein, 1966), and the share
// of it that stays. The bit-parallel algorithm of Myers (Journal of the ACM 46, 1999) in the form of Hyyrö ("Explaining
// and Extending the Bit-parallel Approximate String Matching Algorithm of Myers", 2001): 64 cells of a column in a few
// instructions. Pure; a `distance_from` belongs to one thread.
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "upstream/determinism/compare/tokens.hpp"

namespace idem::upstream::determinism {

/// From one list to many others: what is worked out of the one is kept.
class distance_from {
public:
    /// `tokens` outlives it.
    explicit distance_from(std::span<const token> tokens);
    [[nodiscard]] std::size_t to(std::span<const token> other);

private:
    struct block {
        std::uint64_t up, down;  // where the column grows and falls
    };
    std::span<const token> from_;
    std::size_t blocks_;
    std::unordered_map<token, std::size_t> row_of_;  // into rows_, by blocks_
    std::vector<std::uint64_t> rows_;                // where each token stands in from_
    std::vector<block> column_;
};

[[nodiscard]] std::size_t edit_distance(std::span<const token> a, std::span<const token> b);

/// 1 - distance / longer length; 1 if both are empty. In [0, 1], 1 only for equal lists.
[[nodiscard]] double similarity(std::size_t distance, std::size_t a, std::size_t b) noexcept;
[[nodiscard]] double edit_similarity(std::span<const token> a, std::span<const token> b);

}  // namespace idem::upstream::determinism
