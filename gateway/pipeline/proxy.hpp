#pragma once
// Everything that is not a cacheable call, proxied untouched: any method and path, bodies streamed both ways under
// back-pressure, upgraded connections tunnelled.
#include <string>
#include <string_view>

#include "gateway/http/transaction.hpp"
#include "gateway/pipeline/reply.hpp"
#include "gateway/pipeline/services.hpp"

namespace idem::gateway::pipeline {

struct proxy_request {
    const route_plan* route = nullptr;
    std::string_view pin;       // what the replica is chosen by
    std::string_view target;    // as it goes upstream
    std::string_view read;      // body bytes that were already taken from the client
    bool all_read = false;      // `read` is the whole body
    bool changed = false;       // `read` is not what the client sent: what its head says of the body does not hold
    reason why = reason::none;  // why the call is not cached, for the account
    exposure expose = exposure::full;
    std::string_view request_id;
    digest caller{};                   // whose limits count, where there are any
    std::optional<digest> credential;  // of a known call: its status is the credential's proof
    bool proves = false;
    std::optional<digest> environment;  // see attempt_order::environment
};

struct proxied {
    unsigned status = 0;
    reason why = reason::none;  // a failure, else proxy_request::why
    bool aborted = false;
    net::time_point first_byte{};
    std::string replica;
    unsigned upstream_status = 0;
    std::uint32_t upstream_ms = 0, retries = 0;
};

[[nodiscard]] net::task<proxied> proxy(services& at, http::transaction& t, const proxy_request& r);

}  // namespace idem::gateway::pipeline
