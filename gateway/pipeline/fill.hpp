#pragma once
// The fill: the task that gets an answer for a flight, from the second tier or from the upstream, and stores it. It
// owns everything it needs, because the client that caused it may leave at any time.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cache/flight/flight.hpp"
#include "cache/policy/freshness.hpp"
#include "gateway/pipeline/services.hpp"
#include "upstream/client/exchange.hpp"
#include "upstream/dialect/dialect.hpp"

namespace idem::gateway::pipeline {

/// One call as it was understood: what the fill and every follower of it need to know.
struct asked {
    const route_plan* route = nullptr;
    const upstream::dialect::dialect* api = nullptr;
    upstream::dialect::call call;
    digest request;
    digest pin;
    cache::cache_key key;
    std::uint64_t canonical_size = 0;
    cache::epoch_record epoch;
    reason keep_out = reason::none;  // why the answer must not be stored, whatever it is (no_store_request)
    reason refresh = reason::none;   // no_cache_request or max_age_exceeded: a live entry stays as it is
    // Set where this answer is to stand beside the first one, in another form: the first one's output, which it must
    // have.
    std::optional<digest> beside;
    id128 ban;              // the bans that were known when the call began
    bool weakened = false;  // a value of the client's stands against the policy: whatever comes has no guarantee
};

struct item_batch;

/// What the fill needs besides, made by the caller that leads.
struct fill_order : asked {
    digest credential;    // the caller's, as the proof table knows it
    digest caller;        // whose limits count, where there are any
    bool proves = false;  // answers are shared beyond the credential: a success is its proof
    std::string scope_tag;
    std::vector<std::string> tags;
    cache::lifetime_rules lifetime{};         // of what is stored
    std::optional<std::chrono::seconds> ttl;  // Idem-TTL
    bool look_up = true;                      // ask the second tier first
    bool shared = true;                       // the flight is in the table
    std::shared_ptr<const item_batch> items;  // what the call asks for, where each is kept by itself
    bool only_stored = false;                 // of `items`: nothing may be computed (only-if-cached)
    bool hides_usage = false;                 // usage was asked for by Idem
    upstream::client::outgoing out;           // without target, which depends on the replica
    std::string target;                       // as the client sent it
    std::string body;                         // as it goes upstream
};

/// Runs to the flight's conclusion; never throws for anything that an upstream or a store does.
[[nodiscard]] net::task<void> run_fill(services& at, std::shared_ptr<cache::flight> into,
                                       std::unique_ptr<fill_order> order);

}  // namespace idem::gateway::pipeline
