#pragma once
// What can be said of an answer by what is known of the replica that gave it: whether its environment stayed what it
// was, and so whether the answer may be stored; and what is guaranteed. One object a fill. Where the upstream's
// replicas are not watched it says nothing and costs nothing.
#include "gateway/pipeline/fill.hpp"
#include "gateway/pipeline/services.hpp"
#include "upstream/determinism/guarantee.hpp"
#include "upstream/dialect/dialect.hpp"

namespace idem::gateway::pipeline {

/// Of one answer.
struct testimony {
    reason refuse = reason::none;  // environment_changed, prompt_drift: it must not be stored
    digest environment;            // that it was computed in, as far as it is known
    upstream::determinism::guarantee promise;
};

class witness {
public:
    enum class part : std::uint8_t { fill, shadow };  // of a shadow run nothing is remembered that a fill is judged by
    /// `before`: the replica's condition when it was asked.
    witness(services& at, const fill_order& order, std::size_t replica, upstream::determinism::condition before,
            part plays = part::fill);
    /// When the answer is complete. Under a strict policy the replica's facts are read once more.
    [[nodiscard]] net::task<testimony> testify(const upstream::dialect::verdict& answer);

private:
    [[nodiscard]] net::task<bool> same_facts();
    [[nodiscard]] bool drifted(const upstream::dialect::verdict& answer) const;

    services& at_;
    const fill_order& order_;
    const std::size_t replica_;
    upstream_health& health_;
    upstream::determinism::condition before_;
    const part plays_;
};

}  // namespace idem::gateway::pipeline
