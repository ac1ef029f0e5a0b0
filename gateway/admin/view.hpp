#pragma once
// What the admin API shows of the running gateway; the wiring implements it. All calls come from the thread that serves
// the admin listeners.
#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cache/entry/entry.hpp"
#include "cache/ledger/drift.hpp"
#include "cache/request/key.hpp"
#include "cache/state/state_record.hpp"
#include "upstream/net/net.hpp"

namespace idem::gateway::admin {

/// One line of /readyz?verbose. `detail` says why it is not good, without secrets.
struct check {
    std::string name;
    bool good = true;
    std::string detail;
    bool degraded = false;  // good enough to serve, and somebody should look at it
};

struct found {
    enum class status : std::uint8_t { found, absent, failed } is = status::absent;
    cache::entry_ptr value;  // with found
    std::string tier;        // where it was: memory, embedded, redis
    std::string why;         // with failed
};

/// What of the entries is to be listed. Empty: all.
struct entry_filter {
    std::string model, tag, route;
    std::string cursor;  // where the page begins: of the page before; empty: at the beginning
    std::size_t limit = 100;
};
struct entry_list {
    std::vector<cache::entry_ptr> entries;
    std::string next;  // cursor; empty: this was the last page
    std::string tier;
    std::string why;  // set: it could not be read
};

struct erased {
    enum class status : std::uint8_t { erased, absent, failed } is = status::absent;
    bool fill = false;  // one was under way; what it makes is not stored
    std::string why;    // with failed
};

/// What became of an order: its HTTP status, and why where it is not 202.
struct order_result {
    unsigned status = 202;
    std::string detail;
    std::string epoch{};                     // that it opened or went back to
    std::optional<std::uint64_t> entries{};  // that it removed, or would reach
};

/// What the ledger says, where it could be read to its end: status 200.
struct drift_found {
    cache::drift_report report;
    unsigned status = 200;
    std::string detail;  // with another status
};

/// Of a policy that issues them: status 200.
struct found_receipt {
    unsigned status = 200;
    std::string text;  // else why not
};

class view {
public:
    virtual ~view() = default;
    /// Ready if all are good. Never about upstreams: a sidecar must not fail with them.
    [[nodiscard]] virtual std::vector<check> ready() const = 0;
    [[nodiscard]] virtual std::string metrics(bool open_metrics) const = 0;
    /// The body of GET /admin/v1/stats.
    [[nodiscard]] virtual boost::json::object stats() const = 0;
    /// In all tiers.
    [[nodiscard]] virtual upstream::net::task<found> find(cache::cache_key key) = 0;
    /// Those of the second tier, or of memory where that is all there is; what is purged is left out. A page may be
    /// short of its limit and not be the last.
    [[nodiscard]] virtual upstream::net::task<entry_list> list(entry_filter wanted) = 0;
    /// From all tiers; a fill of that key that is running is not stored.
    [[nodiscard]] virtual upstream::net::task<erased> erase(cache::cache_key key) = 0;
    /// The body of GET /admin/v1/replicas.
    [[nodiscard]] virtual boost::json::object replicas() const = 0;
    /// `action`: quarantine, drain, readmit, attest or record. `upstream` may be empty where the id is of one alone.
    [[nodiscard]] virtual upstream::net::task<order_result> order(std::string upstream, std::string replica,
                                                                  std::string action) = 0;
    /// The body of GET /admin/v1/epochs.
    [[nodiscard]] virtual boost::json::object epochs_list() const = 0;
    /// The body of GET /admin/v1/divergences.
    [[nodiscard]] virtual boost::json::object divergences() const = 0;
    /// A new epoch of an upstream, with the environment of that replica; empty: with the one that most replicas have.
    [[nodiscard]] virtual upstream::net::task<order_result> open_epoch(std::string upstream, std::string why,
                                                                       std::string replica) = 0;
    /// Back to an epoch that its upstream has had before.
    [[nodiscard]] virtual upstream::net::task<order_result> activate_epoch(id128 id) = 0;
    /// Nothing that was begun before it and that it fits is served again, by any gateway of the store.
    [[nodiscard]] virtual upstream::net::task<order_result> purge(cache::ban_kind kind, std::string value) = 0;
    /// The same, and what it fits is removed from all tiers.
    [[nodiscard]] virtual upstream::net::task<order_result> erase_all(cache::ban_kind kind, std::string value) = 0;
    /// How many entries of this gateway's store it would reach. Changes nothing.
    [[nodiscard]] virtual upstream::net::task<order_result> reach(cache::ban_kind kind, std::string value) = 0;
    /// The receipt of a fill of that key, or with zeros of the youngest.
    [[nodiscard]] virtual upstream::net::task<found_receipt> receipt(cache::cache_key key, id128 fill) = 0;
    /// What the ledger says of two epochs. Reads all of it, page by page.
    [[nodiscard]] virtual upstream::net::task<drift_found> drift(id128 before, id128 after) = 0;
};

}  // namespace idem::gateway::admin
