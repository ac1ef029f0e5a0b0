#pragma once
// What can go wrong between Idem and Redis, as one closed list: the log line, the counter in store_stats and the
// decision whether the breaker hears of it all start from here. Pure functions; any thread.
#include <cstdint>
#include <string_view>

#include "upstream/base/reason.hpp"

namespace idem::cache::redis {

enum class fault : std::uint8_t {
    none,

    // Of the connection; each ends it, and with it every command that was on it.
    connect_failed,    // name resolution, connect or TLS handshake
    closed,            // Redis closed or reset the connection
    timeout,           // no byte for the progress deadline, or not done by the whole deadline
    malformed,         // bytes that are not RESP2, a RESP3 push among them
    reply_too_large,   // more bytes or elements than any answer to us can have
    unexpected_reply,  // a reply nobody asked for, or of a type its command cannot have
    desync,            // PING came back with another nonce: replies no longer match commands
    stranger,          // another key's entry came back: renamed by hand, or replies no longer match commands

    // Made here; nothing was sent.
    not_connected,  // waiting out the backoff after a failure
    overloaded,     // too many commands or bytes are queued already
    shut_down,      // the store is closing

    // Error replies, by their first word (redis.io, "RESP protocol": Simple errors).
    loading,     // LOADING: the data set is being read from disk
    masterdown,  // MASTERDOWN: a replica without its master that may not serve stale data
    busy,        // BUSY: a script blocks the server
    noauth,      // NOAUTH: authentication required
    wrongpass,   // WRONGPASS, or AUTH refused
    noperm,      // NOPERM: the ACL user may not run this command or touch this key
    readonly,    // READONLY: this is a replica
    oom,         // OOM: above maxmemory and nothing may be evicted
    misconf,     // MISCONF: writes are stopped because saving to disk fails
    noreplicas,  // NOREPLICAS: fewer replicas than min-replicas-to-write
    wrongtype,   // WRONGTYPE: the name holds something that is not a string
    execabort,   // EXECABORT: a transaction was discarded
    noscript,    // NOSCRIPT: the script cache does not know this digest
    unblocked,   // UNBLOCKED: a blocking command was ended from outside
    moved,       // MOVED, ASK, TRYAGAIN, CLUSTERDOWN, CROSSSLOT: a cluster node
    ask,
    tryagain,
    clusterdown,
    crossslot,
    syntax_error,     // ERR syntax error: SET with NX and GET together is Redis 7
    unknown_command,  // ERR unknown command
    other_error,      // any other error reply
    count_            // number of faults, not a fault
};

/// The word in logs and metrics, e.g. "oom". Empty for `none`.
[[nodiscard]] std::string_view to_string(fault f) noexcept;
/// One sentence for the operator: what it means and what to do. Holds no data from the wire.
[[nodiscard]] std::string_view explain(fault f) noexcept;
/// Names an error reply (the text after '-'). Redis before 7 wraps errors of commands inside scripts in "ERR Error
/// running script …: -CODE …"; the inner code is the one named.
[[nodiscard]] fault classify(std::string_view error_text) noexcept;
/// Redis as a whole cannot serve now: such faults open the breaker.
[[nodiscard]] bool is_outage(fault f) noexcept;
/// Writes are refused while reads go on: nothing is stored for a moment, and the breaker stays shut.
[[nodiscard]] bool refuses_writes(fault f) noexcept;
/// What the request is told.
[[nodiscard]] reason reason_of(fault f) noexcept;

}  // namespace idem::cache::redis
