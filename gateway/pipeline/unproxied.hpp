#pragma once
// Which calls may not be forwarded as they came. Pure; any thread.
#include <string>

#include "gateway/pipeline/plan.hpp"
#include "upstream/dialect/dialect.hpp"
#include "upstream/http/message.hpp"

namespace idem::gateway::pipeline {

struct refusal {
    reason why = reason::none;
    std::string detail{};  // empty: the reason's own sentence
};

/// Of a call that was not worked out, because no API claims it (`api` is null) or its body is not held whole, for the
/// reason `why`. Offline nothing is forwarded, and what a policy enforces cannot be enforced on such a call.
[[nodiscard]] refusal unproxied(const plan& routes, const route_plan& usual, const upstream::http::request_head& head,
                                const upstream::dialect::dialect* api, reason why);

}  // namespace idem::gateway::pipeline
