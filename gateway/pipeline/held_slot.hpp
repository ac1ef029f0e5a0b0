#pragma once
// A slot together with what has to happen when its call ends early: an engine may go on with a call that was given up,
// so the slot is kept until the engine says that it is idle, or for a while where it cannot be asked.
//
// A call that ran to its last byte gives its slot back at once. The alternative, to read every abandoned answer to its
// end, would be certain with any engine; but a client that leaves after a second would hold a serial replica for as
// long as its longest answer. Whoever wants that sets `finish_abandoned` in the policy.
#include "gateway/pipeline/services.hpp"

namespace idem::gateway::pipeline {

/// Belongs to one thread, that of `at`, which outlives it.
class held_slot {
public:
    held_slot() = default;
    held_slot(services& at, const upstream_plan& to, upstream::route::slot held) noexcept
        : at_(&at), to_(&to), held_(std::move(held)) {}
    ~held_slot() { end(); }
    held_slot(held_slot&&) = default;
    held_slot& operator=(held_slot&& from) noexcept;

    /// The engine has ended the call, or never began it: the slot is free now.
    void done() noexcept { held_.give_back(); }
    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(held_); }
    /// Why the answer may not be what the replica gives alone; see slot::flaw. Ask when the last byte has come.
    [[nodiscard]] reason flaw() const { return held_.flaw(net::clock::now()); }

private:
    void end() noexcept;

    services* at_ = nullptr;
    const upstream_plan* to_ = nullptr;
    upstream::route::slot held_;
};

}  // namespace idem::gateway::pipeline
