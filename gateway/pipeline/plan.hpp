#pragma once
// The configuration as the data path reads it: routes with their upstream and policy resolved, treatments computed.
// Made once per configuration, immutable, shared by all threads.
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "gateway/config/config.hpp"
#include "gateway/pipeline/changes.hpp"
#include "gateway/pipeline/concurrency.hpp"
#include "upstream/base/digest.hpp"
#include "upstream/client/exchange.hpp"
#include "upstream/determinism/roster.hpp"
#include "upstream/http/fields.hpp"
#include "upstream/route/pin.hpp"

namespace idem::gateway::pipeline {

struct upstream_plan {
    const config::upstream_pool* settings = nullptr;
    std::size_t index = 0;                               // into epochs and health
    std::vector<upstream::route::candidate> candidates;  // the replicas, for pinning
    upstream::client::timeouts timeouts;
    concurrency_plan concurrency{};
    bool watched = false;            // its replicas are probed; see config::upstream_pool::probe
    std::string_view native_engine;  // whose own API short paths speak; empty where the URL ends in /v1
};

struct policy_plan {
    const config::policy* settings = nullptr;
    bool bypass = false;
    upstream::determinism::demand demands = upstream::determinism::demand::any;  // of the replica
    digest treatment;
    std::int64_t ttl_ms = 0;
    body_changes changes;
};

struct route_plan {
    const config::route* settings = nullptr;
    const upstream_plan* upstream = nullptr;
    const policy_plan* policy = nullptr;
};

class plan {
public:
    explicit plan(config::snapshot from);
    /// First route whose conditions all hold. An empty `model` (a call that names none) meets every model condition, so
    /// that files, model lists and the like find the upstream of the first route that could serve them.
    [[nodiscard]] const route_plan* match(std::string_view path, std::string_view model,
                                          const upstream::http::fields& headers) const noexcept;
    [[nodiscard]] const config::configuration& settings() const noexcept { return *from_; }
    [[nodiscard]] const std::vector<upstream_plan>& upstreams() const noexcept { return upstreams_; }
    /// For what is forwarded as it came, but for what speaks to gateways.
    [[nodiscard]] const body_changes& controls_only() const noexcept { return controls_only_; }

private:
    config::snapshot from_;
    std::vector<upstream_plan> upstreams_;
    std::vector<policy_plan> policies_;
    std::vector<route_plan> routes_;
    body_changes controls_only_{config::policy{}};
};

}  // namespace idem::gateway::pipeline
