#pragma once
// The configuration as the program uses it: plain, complete (defaults filled in), validated. An immutable snapshot
// shared by pointer. The table in schema.cpp drives loading, defaults, reference and JSON Schema; the two must name the
// same keys and defaults (a test compares them).
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "upstream/client/target.hpp"

namespace idem::gateway::config {

using std::chrono::milliseconds;

struct address {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;
    [[nodiscard]] bool loopback() const noexcept;
    bool operator==(const address&) const = default;
};

struct listener {
    address at{"127.0.0.1", 8080};
    enum class exposure : std::uint8_t { full, minimal, none } expose = exposure::full;
    std::uint64_t body = 64ull << 20;  // bytes of a request body that are held for the key
    std::uint32_t connections = 10000;
    std::uint32_t threads = 0;                            // 0: one a core, from the cgroup's cpu.max
    std::string tls_certificate, tls_key, tls_client_ca;  // files; empty: plain
    std::string clients_file;
    std::vector<std::string> trusted;  // CIDRs
    milliseconds head_timeout{10'000}, body_idle{30'000}, keep_alive{75'000}, write_stall{60'000};
    milliseconds drain_delay{0}, drain_limit{630'000};
};

struct admin {
    address at{"127.0.0.1", 8081};
    std::string token, read_token;  // empty: a random one in DATA/admin-token
    std::vector<std::string> hosts;
    std::optional<address> health;  // optional extra port for probes and metrics
};

struct redis {
    std::vector<std::string> urls{"redis://127.0.0.1:6379"};  // redis://, rediss://, unix://
    std::string topology = "standalone";
    std::string user, password;
    std::string prefix = "idem:";
    milliseconds deadline{50}, total{500};
    std::uint32_t connections = 2;  // a thread
    upstream::client::tls_settings tls;
};

struct cache {
    std::string scope = "credential";  // credential | client | shared | header:NAME
    std::string key_secret;
    milliseconds ttl{std::chrono::hours(24 * 30)};
    milliseconds stale{std::chrono::hours(24 * 7)};
    milliseconds ledger{std::chrono::hours(24 * 400)};
    std::uint64_t entry = 4ull << 20;
    std::uint64_t memory = 256ull << 20;  // bytes, resolved from a percentage
    enum class tier : std::uint8_t { memory, embedded, redis } store = tier::embedded;
    enum class blind : std::uint8_t { serve, miss } when_blind = blind::serve;
    std::string embedded_path = "idem-data";
    std::uint64_t embedded_size = 4ull << 30;
    config::redis redis;
    bool zstd = true;
    std::string key_file;  // of entries at rest; empty: they are not encrypted
};

struct replica {
    std::string id;               // "r1", "r2", … where not given
    std::string url;              // as configured
    std::uint32_t weight = 1;     // its share of the requests; 0: none
    upstream::client::target at;  // made from `url` and the upstream's `tls`
};
struct concurrency {
    /// automatic: as the engine's profile says where a strict route leads here, else unlimited.
    enum class rule : std::uint8_t { automatic, unlimited, serial, batch_invariant } mode = rule::automatic;
    std::uint32_t per_replica = 0;  // calls at once; 0: as the mode says
    std::uint32_t queue = 256;
    milliseconds queue_timeout{30'000}, abort_grace{2'000}, lease{10'000};
};
/// What is known, demanded and done about the environment of an upstream's replicas.
struct environment_rules {
    std::vector<std::pair<std::string, std::string>> lock;  // facts that must be so
    std::vector<std::string> declared;                      // those of them that the operator vouches for
    enum class change : std::uint8_t { quarantine, new_epoch } on_change = change::quarantine;
    milliseconds interval{30'000};
};
/// How a replica comes to be admitted.
/// A longer attestation, before admission and then from time to time.
struct evaluation_rules {
    milliseconds interval{0};  // 0: none
    std::uint32_t runs = 30, neighbours = 3;
};
struct admission_rules {
    std::string golden;  // file; empty: the built-in prompts
    std::string model;   // to put the prompts to; empty: the first that the replica lists
    std::uint32_t runs = 3;
    milliseconds interval{900'000}, health_interval{5'000}, health_timeout{500}, patience{30'000};
    std::uint32_t most_quarantined = 50;  // percent of the replicas
    evaluation_rules evaluation;
};

struct upstream_pool {
    std::string name;
    std::string engine = "generic";
    std::vector<replica> replicas;
    enum class watching : std::uint8_t { automatic, on, off } probe = watching::automatic;
    enum class pinning : std::uint8_t { request, prefix, none } pin_by = pinning::request;
    bool exclusive = false;  // nobody but gateways on one store calls the replicas
    environment_rules environment;
    admission_rules admission;
    // What comes of shadow runs that differ.
    std::uint32_t quarantine_after = 3;  // divergences of one replica; 0: never
    bool divergence_excerpts = false;
    // The gateway's own credential, in one of three ways; without one the client's is passed through.
    std::optional<std::string> bearer;
    std::string bearer_file;
    std::string credential_header;
    std::optional<std::string> credential_value;  // of that field
    std::string credential_file;                  // or where it is read from
    [[nodiscard]] bool own_credential() const noexcept {
        return bearer || !bearer_file.empty() || !credential_header.empty();
    }
    milliseconds connect{2'000}, first_byte{120'000}, between_bytes{60'000}, total{900'000};
    std::string proxy;  // a URL, or "environment"; empty: none
    std::uint32_t retries_per_call = 2, retries_percent = 20;
    std::uint32_t eject_after = 5, eject_after_connects = 3, eject_percent = 50;
    milliseconds eject_first{2'000}, eject_longest{120'000};
    config::concurrency concurrency;
    upstream::client::tls_settings tls;
};

/// Which answered requests are run again, to compare.
struct shadow_rules {
    std::uint32_t rate = 0;  // millionths of the hits and fills; 0: none
    std::uint32_t per_minute = 30;
    std::vector<std::string> targets{"same", "sibling"};
    [[nodiscard]] bool targets_are(std::string_view word) const noexcept {
        return std::find(targets.begin(), targets.end(), word) != targets.end();
    }
};

struct policy {
    std::string name;
    std::string base;                // built-in it extends: relaxed | seeded | strict | offline | bypass
    std::vector<std::string> above;  // every policy it extends, nearest first; `base` is the last
    std::optional<milliseconds> ttl;
    enum class eligibility : std::uint8_t { any, seeded, greedy } eligible = eligibility::any;
    enum class item_rule : std::uint8_t { single, batch } items = item_rule::single;
    // What becomes of a request that sets a parameter which the policy fixes; of strict and seeded.
    enum class conflict_rule : std::uint8_t { reject, override_value, allow };
    std::optional<conflict_rule> conflict;  // absent: reject
    std::string of;                         // offline: the policy whose entries are answered; empty: relaxed
    bool store_truncated = true;            // `length` where the request set the limit itself
    bool store_filtered = false;            // content_filter
    bool usage_inject = true;
    bool finish_abandoned = false;  // last follower gone: finish the fill all the same
    bool store_required = false;
    shadow_rules shadow;
    bool receipts = false;          // of what is stored and served; see config::receipts
    bool reject_malformed = false;  // 400 for bodies that are not cacheable JSON, instead of forwarding
    // What is done to prompt text, for the key and for what is forwarded alike.
    bool nfc = false, collapse_whitespace = false, trim = false;
    std::vector<std::string> strip_pointers;  // members that are taken out of both
    /// Fixes parameters, so that no request may go on as it came.
    [[nodiscard]] bool enforces() const noexcept { return base == "strict" || base == "seeded"; }
    [[nodiscard]] bool changes_bodies() const noexcept {
        return nfc || collapse_whitespace || trim || !strip_pointers.empty();
    }
};

/// What `match.dialect` calls a request that no dialect knows.
inline constexpr std::string_view passthrough = "passthrough";

struct route {
    std::string name;                  // "route-1" where not given
    std::string path, model, dialect;  // globs; empty: any
    std::vector<std::pair<std::string, std::string>> headers;
    std::string upstream;
    std::string policy = "relaxed";
    std::string rename;  // the model's name from here on; empty: the client's
};

struct observe {
    enum class access : std::uint8_t { json, off } access_log = access::json;
    std::string log_level = "info";
    enum class format : std::uint8_t { text, json } log_format = format::text;
};

/// What the signed receipts of policies with `receipts` need.
struct receipts {
    std::string key_file;  // `data`/receipts/key.pem where not given
    enum class sink : std::uint8_t { file, redis, standard_output } heads = sink::file;
    std::string heads_file;  // `data`/receipts/heads.jsonl where not given
    milliseconds interval{60'000};
    milliseconds keep{std::chrono::hours(24 * 400)};
};

struct limits {
    std::uint32_t calls = 0;  // 0 anywhere: no limit
    std::uint32_t caller_calls = 0, per_minute = 0, burst = 0;
};

struct configuration {
    listener listen;
    config::admin admin;
    config::cache cache;
    std::vector<upstream_pool> upstreams;
    std::vector<policy> policies;  // built-ins included
    std::vector<route> routes;     // the default route included
    config::receipts receipts;
    config::limits limits;
    config::observe observe;
    std::string data = "idem-data";  // directory of everything writable
};
using snapshot = std::shared_ptr<const configuration>;

}  // namespace idem::gateway::config
