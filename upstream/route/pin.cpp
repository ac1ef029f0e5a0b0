#include "upstream/route/pin.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

namespace idem::upstream::route {
namespace {

std::uint64_t hash(const digest& request, std::string_view id) {
    constexpr std::size_t on_stack = 256;
    const std::size_t size = request.bytes.size() + id.size();
    if (size > on_stack) return XXH3_64bits(std::string(view(request)).append(id).data(), size);
    std::array<char, on_stack> joined;
    std::memcpy(joined.data(), request.bytes.data(), request.bytes.size());
    std::memcpy(joined.data() + request.bytes.size(), id.data(), id.size());
    return XXH3_64bits(joined.data(), size);
}

double score(const digest& request, const candidate& replica) {
    const double u = (static_cast<double>(hash(request, replica.id) >> 11) + 0.5) * 0x1p-53;
    return -std::log(u) / replica.weight;
}

}  // namespace

void rank(const digest& request, std::span<const candidate> replicas, std::vector<std::uint32_t>& order) {
    struct scored {
        double score;
        std::uint32_t index;
    };
    constexpr std::size_t usual = 32;
    std::array<scored, usual> few;
    std::vector<scored> many;
    if (replicas.size() > usual) many.resize(replicas.size());
    const std::span<scored> all = many.empty() ? std::span<scored>(few) : std::span<scored>(many);
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < replicas.size(); ++i) {
        if (replicas[i].weight > 0) all[count++] = {score(request, replicas[i]), i};
    }
    const std::span<scored> used = all.first(count);
    std::sort(used.begin(), used.end(), [&](const scored& a, const scored& b) {
        return a.score != b.score ? a.score < b.score : replicas[a.index].id < replicas[b.index].id;
    });
    order.clear();
    for (const scored& s : used) order.push_back(s.index);
}

}  // namespace idem::upstream::route
