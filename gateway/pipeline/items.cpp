#include "gateway/pipeline/items.hpp"

#include <algorithm>
#include <unordered_map>

#include "upstream/dialect/object_watcher.hpp"

namespace idem::gateway::pipeline {

std::string item_batch::body_for(std::string_view body, std::span<const std::uint32_t> some) const {
    const std::vector<std::string_view> all = by->items(body);
    if (all.size() != places.size()) return {};
    std::vector<std::string_view> wanted;
    wanted.reserve(some.size());
    for (const std::uint32_t i : some) wanted.push_back(all[items[i].place]);
    return by->asking_for(body, wanted);
}

std::optional<std::vector<std::string>> item_batch::split(std::string_view answer,
                                                          std::span<const std::uint32_t> some) const {
    std::vector<std::uint32_t> weights;
    weights.reserve(some.size());
    for (const std::uint32_t i : some) weights.push_back(items[i].weight);
    return by->split_answer(answer, weights);
}

std::optional<std::string> item_batch::join(std::span<const std::string_view> answers) const {
    std::vector<std::string_view> each;
    each.reserve(places.size());
    for (const std::uint32_t i : places) each.push_back(answers[i]);
    return by->join_answers(each);
}

item_batch batch_of(const upstream::dialect::batching& by, std::span<const item_identity> identities,
                    std::span<const cache::cache_key> keys) {
    item_batch b{.by = &by, .items = {}, .places = {}};
    b.places.reserve(keys.size());
    std::unordered_map<cache::cache_key, std::uint32_t> known;
    for (std::uint32_t place = 0; place < keys.size(); ++place) {
        const auto [at, isnew] = known.emplace(keys[place], static_cast<std::uint32_t>(b.items.size()));
        if (isnew) {
            const item_identity& id = identities[place];
            b.items.push_back({id.request, keys[place], id.canonical_size, id.weight, place});
        }
        b.places.push_back(at->second);
    }
    return b;
}

cache::flight::limits limits_of(std::uint64_t entry, const item_batch* items) noexcept {
    cache::flight::limits limits{.entry = entry};
    constexpr std::uint64_t most = upstream::dialect::object_watcher::max_object;
    if (items) limits.entry = std::max(entry, std::min<std::uint64_t>(most, entry * items->places.size()));
    return limits;
}

}  // namespace idem::gateway::pipeline
