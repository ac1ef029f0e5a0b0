#pragma once
// Heads of answers: a status line and fields, without framing fields, which belong to the server. Pure text building;
// the caller gives the clock. What a client may learn is `listen.expose`: full, minimal (X-Cache and Age only) or none.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cache/entry/entry.hpp"
#include "cache/flight/flight.hpp"
#include "cache/state/epochs.hpp"
#include "gateway/config/config.hpp"
#include "upstream/base/reason.hpp"

namespace idem::gateway::pipeline {

using exposure = config::listener::exposure;

/// The fields that say what happened. Views are read during the call only.
struct account {
    outcome what = outcome::bypass;
    reason why = reason::none;
    std::string_view tier;     // memory | embedded | redis, on a hit
    bool unconfirmed = false;  // of memory, while the second tier cannot be asked
    const cache::cache_key* key = nullptr;
    const digest* request = nullptr;
    const cache::epoch_record* epoch = nullptr;
    const digest* environment = nullptr;                        // of the answer; else the epoch's
    const upstream::determinism::guarantee* promise = nullptr;  // where the answer was complete before its head
    const digest* output = nullptr;                             // where the answer was complete before its head
    std::optional<bool> stored;                                 // likewise
    std::string_view receipt;  // where it was asked for and the answer was complete before its head
    std::string_view replica;
    std::optional<std::int64_t> age_s, ttl_s;
    std::string_view request_id;  // minted here; empty: the upstream's own is relayed
    std::string_view id_field;    // where else clients of this API look for it; empty: nowhere
    std::string_view via;         // our pseudonym for the Via field
    std::string_view cors;        // field lines for the caller's origin; empty where the upstream's own are relayed
    std::uint32_t took_us = 0, upstream_ms = 0;
    std::uint32_t retry_after = 1;  // seconds, of an error that waiting mends
};

/// The account of a stored answer at `now`: age, remaining lifetime, replica, output digest.
[[nodiscard]] account account_of(const cache::entry& e, cache::unix_ms now);

void append_account(std::string& head, const account& a, exposure expose, std::string_view upstream_cache_status = {});

/// 200 with the stored answer. `form_type`: content type where the answer was converted, else empty.
void append_hit_head(std::string& head, const cache::entry& e, std::string_view form_type, const account& a,
                     exposure expose);

/// The upstream's head as relayed to the caller that asked (`own`), or to another that follows: those get no rate
/// limits, cookies and request ids of somebody else's request.
void append_relayed_head(std::string& head, const cache::answer_head& from, bool own, const account& a,
                         exposure expose);

/// A failure made by Idem: status line and fields of its JSON body. 503 and 429 carry Retry-After; a 504 of
/// only-if-cached tells SDKs not to retry.
void append_error_head(std::string& head, unsigned status, const account& a, exposure expose);

/// HTTP status of a failure made by Idem.
[[nodiscard]] unsigned status_of(reason why) noexcept;

/// One sentence for people, where the place that failed has none better.
[[nodiscard]] std::string_view sentence_of(reason why) noexcept;
/// Fields of an upstream's answer that ours stand in place of, since none may come twice: the server's Date, and what
/// another Idem behind us says of itself.
[[nodiscard]] bool replaced(std::string_view name, exposure expose) noexcept;

}  // namespace idem::gateway::pipeline
