#pragma once
// The second tier: embedded or Redis, behind one interface. (The memory tier is synchronous and stands before it, see
// memory.hpp.) All calls come from I/O threads and complete on the thread that called, within the store's deadline: a
// slow or dead store answers `failed` with a reason, never an exception and never an error for the client.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/entry/entry.hpp"
#include "cache/ledger/ledger.hpp"
#include "cache/store/coordination.hpp"
#include "cache/store/outage_watch.hpp"
#include "cache/store/page.hpp"
#include "upstream/net/net.hpp"

namespace idem::cache {

enum class lookup_status : std::uint8_t {
    found,
    absent,
    dead,     // there, but past its soft lifetime, or corrupt: `fill` names it for compare-and-replace
    foreign,  // there and unreadable (newer format): leave it alone, do not store
    failed,   // the store could not be asked: `why`
};
struct lookup {
    lookup_status status = lookup_status::absent;
    entry_ptr value;            // with found, and with dead where readable
    id128 dead_fill{};          // with dead
    reason why = reason::none;  // with dead (entry_corrupt), foreign, failed
};

enum class put_status : std::uint8_t {
    stored,
    lost,     // a live entry was there first: `winner`
    refused,  // foreign entry in place, or entry above a cap
    failed,   // `why`
};
struct put_result {
    put_status status = put_status::failed;
    entry_ptr winner;  // with lost
    reason why = reason::none;
};

enum class erase_status : std::uint8_t { erased, absent, failed };

/// What a client bound to a name of its own (Idempotency-Key): which request it was first used for.
struct binding {
    digest name;   // of the client's key, within scope and route
    digest value;  // request digest
    unix_ms until = 0;
};
struct bind_result {
    bool ok = false;
    digest value;  // ours, or the one that was bound before and still is
    reason why = reason::none;
};

struct store_stats {
    std::uint64_t entries = 0, bytes = 0, capacity = 0, evictions = 0;
    std::string state;  // "ok", "breaker open", "read-only: …": one line for /readyz?verbose
    bool healthy = true;
    std::uint64_t expired = 0;  // removed past their store lifetime
    std::uint64_t stored = 0, lost = 0;
    std::uint64_t refused = 0;  // too large, foreign in place, or too much waiting already
    std::uint64_t failed_reads = 0, failed_writes = 0, timeouts = 0;
    std::vector<std::pair<std::string_view, std::uint64_t>> faults{};  // what went wrong, by kind, since start
};

class store : public coordination, public ledger {
public:
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;  // "embedded", "redis"
    [[nodiscard]] virtual upstream::net::task<lookup> find(cache_key key, unix_ms now) = 0;
    /// First writer wins. `replaces` (zero: none) is the fill id of a dead entry that may be replaced.
    [[nodiscard]] virtual upstream::net::task<put_result> put(entry_ptr value, id128 replaces, unix_ms now) = 0;
    [[nodiscard]] virtual upstream::net::task<erase_status> erase(cache_key key) = 0;
    /// For an administrator who looks at all entries, about `most` at a time. `from`: empty, or a page's `next`. An
    /// entry that is there all the time is given at least once; what cannot be read is left out.
    [[nodiscard]] virtual upstream::net::task<entry_page> list(std::string from, std::size_t most) = 0;
    /// What was erased or has gone leaves no trace in files of this store, in a while.
    virtual void scrub() noexcept {}
    /// Create-if-absent; a binding past its `until` is absent.
    [[nodiscard]] virtual upstream::net::task<bind_result> bind(binding wanted, unix_ms now) = 0;
    /// Null where it cannot go away and come back with something missing.
    [[nodiscard]] virtual const outage_watch* outages() const noexcept { return nullptr; }
    /// From any thread; relaxed figures.
    [[nodiscard]] virtual store_stats stats() const = 0;
    /// Flushes what is queued and closes. Called once, after the I/O threads have ended their requests.
    virtual void close() noexcept = 0;
};

}  // namespace idem::cache
