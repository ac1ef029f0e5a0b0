#pragma once
// One call to the upstream on behalf of a fill: the answer goes into a flight as it comes.
#include "cache/flight/flight.hpp"
#include "gateway/pipeline/fill.hpp"

namespace idem::gateway::pipeline {

/// On return the conclusion is known, but for the store. When the last of those who follow `callers` leaves, the call
/// ends, unless the policy says finish; `into` is that flight, or one of the fill's own.
[[nodiscard]] net::task<cache::conclusion> ask_upstream(services& at, cache::flight& into, cache::flight& callers,
                                                        fill_order& order);

/// At the end of the process fills are cancelled, which breaks their exchanges: then that is what is told.
[[nodiscard]] reason told(const services& at, reason broke) noexcept;

}  // namespace idem::gateway::pipeline
