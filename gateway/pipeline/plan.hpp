#pragma once
// The configuration as the data path reads it: routes with their upstream and policy resolved, treatments computed.
// Made once per configuration, immutable, shared by all threads.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "gateway/config/config.hpp"
#include "gateway/pipeline/concurrency.hpp"
#include "gateway/pipeline/treatment.hpp"
#include "upstream/client/exchange.hpp"
#include "upstream/determinism/roster.hpp"
#include "upstream/engine/profile.hpp"
#include "upstream/http/fields.hpp"
#include "upstream/route/pin.hpp"

namespace idem::gateway::pipeline {

struct upstream_plan {
    const config::upstream_pool* settings = nullptr;
    std::size_t index = 0;                               // into epochs and health
    std::vector<upstream::route::candidate> candidates;  // the replicas, for pinning
    upstream::route::contest contest;                    // of these
    upstream::client::timeouts timeouts;
    concurrency_plan concurrency{};
    bool watched = false;  // its replicas are probed; see config::upstream_pool::probe
    const upstream::engine::profile* engine = nullptr;
    std::string_view native_engine;  // whose own API short paths speak; empty where the URL ends in /v1
};

struct policy_plan {
    const config::policy* settings = nullptr;
    bool bypass = false;
    upstream::determinism::demand demands = upstream::determinism::demand::any;  // of the replica
    std::int64_t ttl_ms = 0;
};

struct route_plan {
    const config::route* settings = nullptr;
    const upstream_plan* upstream = nullptr;
    const policy_plan* policy = nullptr;  // of `offline` the one whose answers are given
    const pipeline::treatment* treatment = nullptr;
    std::string_view asked;  // the policy's name in the configuration; of `offline` not policy->settings->name
    bool offline = false;    // stored answers only: nothing is forwarded
};

/// What a route is chosen by.
struct sought {
    std::string_view path;
    std::string_view model;                           // empty: the call names none
    const upstream::dialect::dialect* api = nullptr;  // as upstream::dialect::find() has it; null: none knows the call
    std::string_view body{};                          // tells APIs apart that share a path
};

class plan {
public:
    explicit plan(config::snapshot from);
    plan(plan&&) = default;
    plan& operator=(plan&&) = default;
    /// First route whose conditions all hold. An empty model meets every model condition, so that files, model lists
    /// and the like find the upstream of the first route that could serve them.
    [[nodiscard]] const route_plan* match(const sought& call, const upstream::http::fields& headers) const;
    /// The same route under the policy that a client asks for (Idem-Policy): `offline`, a stricter built-in one, or one
    /// that extends the route's. Null: it cannot be had there.
    [[nodiscard]] const route_plan* under(const route_plan& route, std::string_view policy) const noexcept;
    /// The names of all that under() has there, for people: "audit, offline, strict".
    [[nodiscard]] std::string offered(const route_plan& route) const;
    [[nodiscard]] const config::configuration& settings() const noexcept { return *from_; }
    [[nodiscard]] const std::vector<upstream_plan>& upstreams() const noexcept { return upstreams_; }

private:
    [[nodiscard]] const upstream_plan* upstream_named(std::string_view name) const noexcept;
    [[nodiscard]] const policy_plan* policy_named(std::string_view name) const noexcept;
    /// Null where the engine cannot do what the policy wants.
    [[nodiscard]] std::unique_ptr<route_plan> route_under(const config::route& r, const policy_plan& asked);

    config::snapshot from_;
    std::vector<upstream_plan> upstreams_;
    std::vector<policy_plan> policies_;
    std::vector<std::unique_ptr<const treatment>> treatments_;
    std::map<std::tuple<const config::policy*, const upstream::engine::profile*, std::string>, const treatment*>
        treatment_of_;
    struct choice {
        std::unique_ptr<const route_plan> usual;
        std::vector<std::unique_ptr<const route_plan>> others;  // under other policies
    };
    [[nodiscard]] const choice* choice_of(const route_plan& route) const noexcept;

    std::vector<choice> routes_;
};

}  // namespace idem::gateway::pipeline
