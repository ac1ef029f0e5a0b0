#pragma once
// Which replica a request belongs to: weighted rendezvous hashing (Thaler and Ravishankar, 1998; the logarithmic
// weights of Schindelhauer and Schomaker, 2005). All gateways rank alike without talking to each other; a replica that
// leaves moves only its own requests, and they spread over the others. Pure; any thread. tests/golden/pin.json fixes
// the ranks.
//
// score(replica) = -ln(u) / weight, lowest first, where u = ((h >> 11) + 0.5) / 2^53 and h is XXH3-64 (seed 0) of the
// 32 bytes of the request digest followed by the replica's id. Ties go to the smaller id.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "upstream/base/digest.hpp"

namespace idem::upstream::route {

struct candidate {
    std::string_view id;
    std::uint32_t weight = 1;  // 0: never chosen
};

/// Replaces `order` by indices into `replicas`, best first. O(n log n); allocates only to grow `order`.
void rank(const digest& request, std::span<const candidate> replicas, std::vector<std::uint32_t>& order);

}  // namespace idem::upstream::route
