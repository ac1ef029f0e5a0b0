#pragma once
// Idempotency-Key: a client's own name for a request, which must not come back with another request for a day. What the
// same request under the same name gets is the cache's business: it joins the flight or is given the stored answer.
#include "gateway/pipeline/services.hpp"

namespace idem::gateway::pipeline {

/// Binds the name (cache::idempotency_name) to the request's digest, in the second tier so that all gateways on it
/// agree, else in this process. idempotency_mismatch if it is bound to another. A store that cannot be asked checks
/// nothing, and is counted (operation "bind").
[[nodiscard]] net::task<reason> bind_request(services& at, digest name, digest request);

}  // namespace idem::gateway::pipeline
