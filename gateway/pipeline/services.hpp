#pragma once
// What one I/O thread's part of the pipeline works with. `shared` is the one list of what threads have in common; each
// member is thread-safe by itself. Everything in `services` belongs to its thread. All outlive every request.
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cache/flight/table.hpp"
#include "cache/policy/clients.hpp"
#include "cache/policy/proof.hpp"
#include "cache/policy/scope.hpp"
#include "cache/state/bans.hpp"
#include "cache/state/bindings.hpp"
#include "cache/state/epochs.hpp"
#include "cache/store/memory.hpp"
#include "cache/store/store.hpp"
#include "gateway/observe/access_log.hpp"
#include "gateway/observe/log.hpp"
#include "gateway/observe/metrics.hpp"
#include "gateway/pipeline/body_budget.hpp"
#include "gateway/pipeline/call_pass.hpp"
#include "gateway/pipeline/origins.hpp"
#include "gateway/pipeline/plan.hpp"
#include "upstream/client/credential.hpp"
#include "upstream/client/pool.hpp"
#include "upstream/determinism/prompt_memory.hpp"
#include "upstream/determinism/roster.hpp"
#include "upstream/determinism/shadow_budget.hpp"
#include "upstream/net/task_group.hpp"
#include "upstream/route/health.hpp"
#include "upstream/route/retry.hpp"
#include "upstream/route/slots.hpp"

namespace idem::gateway::receipts {
class book;
}
namespace idem::gateway::shadow {
class desk;
}

namespace idem::gateway::pipeline {

namespace net = upstream::net;

/// Why calls are refused before they reach a replica.
inline constexpr std::array refusals{reason::queue_full, reason::queue_timeout, reason::overloaded,
                                     reason::too_many_calls, reason::rate_limited};

/// What this process has seen of one upstream.
struct upstream_health {
    explicit upstream_health(const upstream_plan& of);
    upstream::route::shared_health replicas;
    upstream::route::slots slots;
    upstream::determinism::roster roster;          // the replicas' states
    upstream::determinism::prompt_memory prompts;  // of requests whose answers are compared by it
    upstream::route::retry_budget retries;
    upstream::client::credential credential;
    cache::proof_table proofs;
    origin_memory origins;
    std::array<std::atomic<std::uint64_t>, refusals.size()> refused{};
    std::atomic<bool> refused_somebody{false};  // the upstream has answered 401 or 403 since the start
};

struct shared {
    const pipeline::plan& plan;
    unsigned threads;
    cache::scope_rules scope;
    std::optional<cache::client_table> clients;  // absent: everybody may call
    cache::memory_store& memory;
    cache::store* second;               // null: memory is all there is
    cache::coordination& coordination;  // of the second tier, or of this process alone
    cache::flight_table& flights;
    const cache::epochs& epochs;
    const cache::bans& bans;
    observe::metrics& metrics;
    observe::access_log& access;
    std::string via;  // "1.1 idem-" and an id of this process
    body_budget& bodies;
    call_gate& limits;
    cache::bindings& bindings;                             // used where there is no second tier
    std::uint32_t connections;                             // of clients, at most, of all threads together
    std::vector<std::unique_ptr<upstream_health>> health;  // by upstream index
    receipts::book* receipts = nullptr;                    // null: no policy has receipts
    shadow::desk* shadow = nullptr;                        // null: nothing is run again
    std::atomic<bool> stopping{false};                     // the drain is over: fills that still run are cancelled
};

struct services {
    shared& common;
    unsigned thread;
    net::executor on;
    upstream::client::pool& connections;
    net::task_group& fills;
    net::task_group& settling;  // what nobody waits for: slots whose calls were given up, records of the ledger
    bool ending = false;        // the thread ends: nothing is spawned any more
    upstream::determinism::shadow_dice dice{1};
    std::size_t notes = 0;  // records of the ledger that are being written
};

/// Wall clock in milliseconds and microseconds since 1970, for lifetimes, Age and the log.
[[nodiscard]] cache::unix_ms unix_ms_now() noexcept;
[[nodiscard]] std::int64_t unix_us_now() noexcept;
[[nodiscard]] std::uint32_t elapsed_us(net::time_point since, net::time_point now) noexcept;

}  // namespace idem::gateway::pipeline
