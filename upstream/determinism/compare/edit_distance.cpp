#include "upstream/determinism/compare/edit_distance.hpp"

#include <algorithm>

namespace idem::upstream::determinism {

namespace {

constexpr std::size_t word = 64;

}  // namespace

distance_from::distance_from(std::span<const token> tokens)
    : from_(tokens), blocks_((tokens.size() + word - 1) / word), rows_(blocks_), column_(blocks_) {
    // Row 0 is of every token that does not stand there.
    for (std::size_t i = 0; i < from_.size(); ++i) {
        const auto [at, fresh] = row_of_.try_emplace(from_[i], rows_.size());
        if (fresh) rows_.resize(rows_.size() + blocks_);
        rows_[at->second + i / word] |= std::uint64_t{1} << i % word;
    }
}

std::size_t distance_from::to(std::span<const token> other) {
    if (from_.empty()) return other.size();
    std::ranges::fill(column_, block{~std::uint64_t{0}, 0});
    std::size_t distance = from_.size();
    const std::uint64_t last = std::uint64_t{1} << (from_.size() - 1) % word;
    for (const token t : other) {
        const auto at = row_of_.find(t);
        const std::uint64_t* const row = rows_.data() + (at == row_of_.end() ? 0 : at->second);
        // The differences along the row, as they go from block to block; the first row of all grows by one.
        std::uint64_t grows_in = 1, falls_in = 0;
        for (std::size_t b = 0; b < blocks_; ++b) {
            const std::uint64_t up = column_[b].up, down = column_[b].down;
            const std::uint64_t equal = row[b] | falls_in;
            const std::uint64_t same = (((equal & up) + up) ^ up) | equal | down;
            std::uint64_t grows = down | ~(same | up);
            std::uint64_t falls = up & same;
            if (b + 1 == blocks_) {
                distance += static_cast<std::size_t>((grows & last) != 0);
                distance -= static_cast<std::size_t>((falls & last) != 0);
            }
            const std::uint64_t grows_out = grows >> (word - 1), falls_out = falls >> (word - 1);
            grows = grows << 1 | grows_in;
            falls = falls << 1 | falls_in;
            column_[b] = {falls | ~(same | grows), grows & same};
            grows_in = grows_out;
            falls_in = falls_out;
        }
    }
    return distance;
}

std::size_t edit_distance(std::span<const token> a, std::span<const token> b) {
    // What both begin and end with costs nothing.
    while (!a.empty() && !b.empty() && a.front() == b.front()) a = a.subspan(1), b = b.subspan(1);
    while (!a.empty() && !b.empty() && a.back() == b.back()) a = a.first(a.size() - 1), b = b.first(b.size() - 1);
    if (a.size() > b.size()) std::swap(a, b);
    return distance_from(a).to(b);
}

double similarity(std::size_t distance, std::size_t a, std::size_t b) noexcept {
    const std::size_t longer = std::max(a, b);
    return longer == 0 ? 1.0 : 1.0 - static_cast<double>(distance) / static_cast<double>(longer);
}

double edit_similarity(std::span<const token> a, std::span<const token> b) {
    return similarity(edit_distance(a, b), a.size(), b.size());
}

}  // namespace idem::upstream::determinism
