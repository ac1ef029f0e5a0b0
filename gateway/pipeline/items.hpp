#pragma once
// A call for many things that are kept one by one (policy `items: batch`): what they are, and which of its answers'
// parts stands where. No I/O.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cache/entry/entry.hpp"
#include "cache/flight/flight.hpp"
#include "gateway/pipeline/identify.hpp"
#include "upstream/dialect/batching.hpp"

namespace idem::gateway::pipeline {

struct item {
    digest request;
    cache::cache_key key;
    std::uint64_t canonical_size = 0;
    std::uint32_t weight = 1;  // batching::weight
    std::uint32_t place = 0;   // the first one it has in the call
};

/// Immutable, shared between the call and its fill. Any thread.
struct item_batch {
    const upstream::dialect::batching* by = nullptr;
    std::vector<item> items;            // each once, by first place
    std::vector<std::uint32_t> places;  // of each place in the call, its item

    /// Whether some thing is asked for twice.
    [[nodiscard]] bool repeats() const noexcept { return items.size() < places.size(); }
    /// The body that asks for these items alone; empty if `body` is not the call's in plain JSON.
    [[nodiscard]] std::string body_for(std::string_view body, std::span<const std::uint32_t> some) const;
    /// The answers that `answer`, to a call for these items in this order, gives to each.
    [[nodiscard]] std::optional<std::vector<std::string>> split(std::string_view answer,
                                                                std::span<const std::uint32_t> some) const;
    /// The answer to the call, of one answer for each item.
    [[nodiscard]] std::optional<std::string> join(std::span<const std::string_view> answers) const;
};

/// `keys` and `identities` are of each place of the call.
[[nodiscard]] item_batch batch_of(const upstream::dialect::batching& by, std::span<const item_identity> identities,
                                  std::span<const cache::cache_key> keys);

/// What a flight may hold: `entry` for each item, but no more than a watcher takes.
[[nodiscard]] cache::flight::limits limits_of(std::uint64_t entry, const item_batch* items) noexcept;

}  // namespace idem::gateway::pipeline
