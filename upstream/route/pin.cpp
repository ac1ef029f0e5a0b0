#include "upstream/route/pin.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

// With its inner functions, which take the hash apart.
#define XXH_INLINE_ALL  // NOLINT(cppcoreguidelines-macro-usage): how the library is told
#include <xxhash.h>

namespace idem::upstream::route {
namespace {

constexpr std::size_t digest_size = sizeof(digest::bytes);

std::uint64_t plain_hash(const digest& request, std::string_view id) {
    constexpr std::size_t on_stack = 256;
    const std::size_t size = digest_size + id.size();
    if (size > on_stack) return XXH3_64bits(std::string(view(request)).append(id).data(), size);
    std::array<char, on_stack> joined;
    std::memcpy(joined.data(), request.bytes.data(), digest_size);
    std::memcpy(joined.data() + digest_size, id.data(), id.size());
    return XXH3_64bits(joined.data(), size);
}

// The same for ids of 1 to 32 bytes, many for one digest. Of 33 to 64 bytes XXH3 makes a sum of four products: two of
// them see the first 32 bytes, the digest, and are computed once; two see the last 32, which are the digest's end and
// the id, put together word by word without a copy in memory.
class id_hasher {
public:
    explicit id_hasher(const digest& request) noexcept {
        std::memcpy(before_zeros_.data(), request.bytes.data(), digest_size);
        const std::uint8_t* const in = before_zeros_.data();
        of_digest_ = XXH3_mix16B(in, XXH3_kSecret, 0) + XXH3_mix16B(in + 16, XXH3_kSecret + 32, 0);
    }

    [[nodiscard]] std::uint64_t operator()(const std::array<std::uint8_t, 64>& behind_zeros,
                                           std::size_t id_size) const noexcept {
        const auto word = [&](std::size_t at) {
            return XXH_readLE64(before_zeros_.data() + id_size + at) | XXH_readLE64(behind_zeros.data() + id_size + at);
        };
        const auto product = [&](std::size_t at, std::size_t secret) {
            return XXH3_mul128_fold64(word(at) ^ XXH_readLE64(XXH3_kSecret + secret),
                                      word(at + 8) ^ XXH_readLE64(XXH3_kSecret + secret + 8));
        };
        return XXH3_avalanche((digest_size + id_size) * XXH_PRIME64_1 + of_digest_ + product(0, 48) + product(16, 16));
    }

private:
    std::array<std::uint8_t, 2 * digest_size> before_zeros_{};
    std::uint64_t of_digest_ = 0;
};

double unit(std::uint64_t hash) noexcept {
    return (static_cast<double>(hash >> 11) + 0.5) * 0x1p-53;
}

double score(double u, std::uint32_t weight) noexcept {
    return -std::log(u) / weight;
}

replica_class class_of(std::size_t i, std::span<const replica_class> classes) noexcept {
    return classes.empty() ? replica_class{0} : classes[i];
}

}  // namespace

void rank(const digest& request, std::span<const candidate> replicas, std::vector<std::uint32_t>& order,
          std::span<const replica_class> classes) {
    struct scored {
        double score;
        std::uint32_t index;
        replica_class group;
    };
    constexpr std::size_t usual = 32;
    std::array<scored, usual> few;
    std::vector<scored> many;
    if (replicas.size() > usual) many.resize(replicas.size());
    const std::span<scored> all = many.empty() ? std::span<scored>(few) : std::span<scored>(many);
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < replicas.size(); ++i) {
        const replica_class group = class_of(i, classes);
        if (replicas[i].weight == 0 || group == unwanted) continue;
        all[count++] = {score(unit(plain_hash(request, replicas[i].id)), replicas[i].weight), i, group};
    }
    const std::span<scored> used = all.first(count);
    std::sort(used.begin(), used.end(), [&](const scored& a, const scored& b) {
        if (a.group != b.group) return a.group < b.group;
        return a.score != b.score ? a.score < b.score : replicas[a.index].id < replicas[b.index].id;
    });
    order.clear();
    for (const scored& s : used) order.push_back(s.index);
}

contest::contest(std::vector<candidate> replicas) : candidates_(std::move(replicas)) {
    entries_.reserve(candidates_.size());
    for (const candidate& c : candidates_) {
        entry& made = entries_.emplace_back();
        made.id = c.id;
        made.weight = c.weight;
        made.fits = !c.id.empty() && c.id.size() <= digest_size;
        if (made.fits) std::memcpy(made.behind_zeros.data() + digest_size, c.id.data(), c.id.size());
    }
}

std::optional<std::uint32_t> contest::best(const digest& request, std::span<const replica_class> classes) const {
    // -ln(u) is never below 1 - u, so that a logarithm is taken only of what may win; rounding is far below the margin.
    constexpr double margin = 1 - 1e-9;
    const id_hasher hash(request);
    const entry* first = nullptr;
    replica_class lowest_class = unwanted;
    double lowest = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const entry& e = entries_[i];
        const replica_class group = class_of(i, classes);
        if (e.weight == 0 || group == unwanted || group > lowest_class) continue;
        const double u = unit(e.fits ? hash(e.behind_zeros, e.id.size()) : plain_hash(request, e.id));
        const bool rival = group == lowest_class;
        if (rival && (1 - u) * margin > lowest * e.weight) continue;
        const double s = score(u, e.weight);
        if (rival && (s > lowest || (s == lowest && e.id > first->id))) continue;
        first = &e;
        lowest_class = group;
        lowest = s;
    }
    if (!first) return std::nullopt;
    return static_cast<std::uint32_t>(first - entries_.data());
}

}  // namespace idem::upstream::route
