#pragma once
// While one call waits for a watched replica: says so when nothing comes for a moment, so that somebody looks whether
// the replica still lives, and ends the wait when it does not. One thread; lives in the frame of whoever waits, and
// costs a deadline.
#include <optional>

#include "gateway/pipeline/attempt.hpp"
#include "upstream/determinism/roster.hpp"
#include "upstream/net/deadline.hpp"

namespace idem::gateway::pipeline {

class quiet_watch {
public:
    /// `demanded`: the environment that another replica would have to be in; absent: any will do. All outlive it.
    quiet_watch(const net::executor& on, upstream::determinism::roster& states, const std::optional<digest>& demanded,
                live_exchange& live);
    /// From now on it is that replica that the call waits for.
    void begin(std::size_t replica);
    /// The call was sent to it.
    void sent();
    void end() noexcept { due_.disarm(); }

private:
    static void expired(void* self) noexcept;

    upstream::determinism::roster& states_;
    const std::optional<digest>& demanded_;
    live_exchange& live_;
    std::size_t replica_ = 0;
    // It was sent; who waits for his turn has no news of his own, and is content with a look from time to time.
    static constexpr net::time_point never = net::time_point::min();
    net::time_point since_ = never;
    net::deadline due_;
};

}  // namespace idem::gateway::pipeline
