#pragma once
// The fill of a call whose things are kept one by one: what is stored is taken, what is missing is asked for in one
// call, and the answer is put together in the order of the call. Nothing lies under the key of the call as a whole.
#include <memory>

#include "cache/flight/flight.hpp"
#include "gateway/pipeline/fill.hpp"

namespace idem::gateway::pipeline {

/// REQUIRES order.items. The conclusion is final. Where nothing was stored and nothing is asked for twice the call goes
/// upstream as it came, and its answer comes back byte for byte; so does a call whose part was answered with something
/// that does not come apart. A part's failure is told as it came.
[[nodiscard]] net::task<cache::conclusion> answer_items(services& at, std::shared_ptr<cache::flight> into,
                                                        fill_order& order);

}  // namespace idem::gateway::pipeline
