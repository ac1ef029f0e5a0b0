#pragma once
// Which replica a request belongs to: weighted rendezvous hashing (Thaler and Ravishankar, 1998; the logarithmic
// weights of Schindelhauer and Schomaker, 2005). All gateways rank alike without talking to each other; a replica that
// leaves moves only its own requests, and they spread over the others. Pure; any thread. tests/golden/pin.json fixes
// the ranks.
//
// score(replica) = -ln(u) / weight, lowest first, where u = ((h >> 11) + 0.5) / 2^53 and h is XXH3-64 (seed 0) of the
// 32 bytes of the request digest followed by the replica's id. Ties go to the smaller id.
//
// What is known of the replicas enters as a class of each: a lower class comes first whatever the scores say, and
// `unwanted` is left out. No classes: all are alike.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "upstream/base/digest.hpp"

namespace idem::upstream::route {

struct candidate {
    std::string_view id;
    std::uint32_t weight = 1;  // 0: never chosen
};

using replica_class = std::uint8_t;
inline constexpr replica_class unwanted = 255;

/// Replaces `order` by indices into `replicas`, best first. O(n log n); allocates only to grow `order`, and above 32
/// replicas.
void rank(const digest& request, std::span<const candidate> replicas, std::vector<std::uint32_t>& order,
          std::span<const replica_class> classes = {});

/// A set of replicas, made ready for many requests.
class contest {
public:
    contest() = default;
    /// The ids must outlive it.
    explicit contest(std::vector<candidate> replicas);
    [[nodiscard]] std::span<const candidate> candidates() const noexcept { return candidates_; }
    /// The first of rank(), in a fraction of its time: neither sorts nor allocates, and takes few logarithms. Nothing
    /// if nobody is wanted.
    [[nodiscard]] std::optional<std::uint32_t> best(const digest& request,
                                                    std::span<const replica_class> classes = {}) const;

private:
    struct entry {
        std::array<std::uint8_t, 64> behind_zeros{};  // the id behind as many zeros as a digest has bytes
        std::string_view id;
        std::uint32_t weight = 0;
        bool fits = false;  // and is not empty
    };
    std::vector<candidate> candidates_;
    std::vector<entry> entries_;
};

}  // namespace idem::upstream::route
