#pragma once
// What a purge or an erasure is asked to reach: {"tag": "nightly"}, {"before": "30d"}, {"all": true}, and "dry_run".
// Pure; any thread.
#include <string>
#include <string_view>

#include "cache/state/state_record.hpp"

namespace idem::gateway::admin {

struct purge_request {
    cache::ban_kind kind = cache::ban_kind::all;
    std::string value;  // as cache::ban has it
    bool dry_run = false;
    std::string error;  // what is wrong with the body, by name; else empty
};
/// `before` is a time (2026-11-30T12:00:00Z, RFC 3339) that is over, or an age (30d).
[[nodiscard]] purge_request read_purge(std::string_view body, cache::unix_ms now);

}  // namespace idem::gateway::admin
