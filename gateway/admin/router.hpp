#pragma once
// Who may ask what of the admin API: the decision for one request head, without I/O. Order of the checks: Host (a page
// that rebinds its name to 127.0.0.1 still sends its own name), Origin (a page elsewhere), token, path, method.
#include <cstdint>
#include <string>
#include <vector>

#include "cache/request/key.hpp"
#include "gateway/admin/response.hpp"
#include "gateway/admin/view.hpp"
#include "upstream/http/message.hpp"

namespace idem::gateway::admin {

struct rules {
    bool health_only = false;  // the health listener: probes and metrics, any Host
    std::string token;         // never empty unless health_only
    std::string read_token;    // empty: there is none
    std::vector<std::string> hosts;
};

struct decision {
    enum class task : std::uint8_t {
        refuse,
        livez,
        readyz,
        metrics,
        stats,
        list,
        find,
        erase,
        replicas,
        order,
        epochs,
        open_epoch,
        activate_epoch,
        purge,
        erase_all,
        drift,
        receipt,
        divergences,
    } what = task::refuse;
    response refusal;           // with refuse
    cache::cache_key key;       // with find, erase, receipt
    id128 fill;                 // receipt: zeros for the youngest
    entry_filter wanted;        // list
    bool verbose = false;       // readyz
    id128 before, after;        // drift: two epochs
    id128 epoch;                // activate_epoch
    std::string replica;        // order: its id
    std::string upstream;       // order: as asked for, may be empty
    std::string action;         // order: quarantine, drain, readmit, attest or record
    bool with_body = false;     // find
    bool open_metrics = false;  // metrics
};

/// Any thread. Tokens are compared in constant time.
[[nodiscard]] decision decide(const upstream::http::request_head& head, const rules& r);

}  // namespace idem::gateway::admin
