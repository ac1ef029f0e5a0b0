#pragma once
// What the replicas of one upstream say together: which environment its epochs have, and whether it moves too often to
// follow. Pure; the time is an argument.
#include <cstddef>
#include <optional>
#include <span>

#include "upstream/base/digest.hpp"
#include "upstream/determinism/environment.hpp"
#include "upstream/net/net.hpp"

namespace idem::upstream::determinism {

/// One replica's.
struct ballot {
    std::optional<digest> environment;  // absent: not read
    std::size_t told = 0;               // facts of it that the replica told itself
};
[[nodiscard]] std::size_t facts_told(const environment& of) noexcept;

/// The environment of more than half of those that were read. A replica that answers every question with nothing has no
/// say where another one tells something.
[[nodiscard]] std::optional<digest> majority_environment(std::span<const ballot> votes);
/// What a first epoch is made of: the majority's environment, or else that of the replica which tells most, the first
/// of them. Nothing where none was read.
[[nodiscard]] std::optional<digest> first_environment(std::span<const ballot> votes);

/// How often an upstream's epoch may follow its environment by itself. Replicas that go to and fro between two
/// environments would otherwise open epochs without end, each of which loses the cache: each time the pause doubles,
/// until nothing has moved for ten pauses.
class epoch_pace {
public:
    static constexpr net::duration shortest = std::chrono::seconds(10), longest = std::chrono::minutes(10);

    [[nodiscard]] bool may_open(net::time_point now) const noexcept { return now >= next_; }
    /// When that will be.
    [[nodiscard]] net::time_point next() const noexcept { return next_; }
    /// Somebody opened one.
    void opened(net::time_point now) noexcept;

private:
    net::duration pause_ = shortest;
    net::time_point next_ = net::time_point::min();
};

}  // namespace idem::upstream::determinism
