#pragma once
// An answered request and the desk of shadow runs: which requests are left there. On the hit path this costs one
// comparison where the policy has no shadow, and one roll of the dice where it has.
#include <memory>

#include "gateway/pipeline/fill.hpp"
#include "gateway/pipeline/order.hpp"
#include "gateway/pipeline/services.hpp"

namespace idem::gateway::pipeline {

/// Whether the dice and the upstream's budget are for it. `keep_out`: why nothing of the request may be kept; then no.
[[nodiscard]] bool run_again(services& at, const route_plan& route, reason keep_out) noexcept;

/// A stored answer was given, and run_again() said so: makes of it what a fill would have been told.
void leave_hit(services& at, preparer& by, const http::request_head& head, const prepared& p, std::string_view body,
               const cache::entry_ptr& stored);
/// A fill has ended. `order` is not used any more.
void leave_fill(services& at, std::unique_ptr<fill_order> order, const cache::conclusion& end);

}  // namespace idem::gateway::pipeline
