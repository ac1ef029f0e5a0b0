#pragma once
// One caller's way through a flight: streams what the fill appends, or waits for the whole answer, and ends exactly as
// well as the answer did: a broken stream gets the dialect's error event and an aborted connection, a broken object a
// 502.
#include <cstdint>

#include "cache/flight/flight.hpp"
#include "gateway/http/transaction.hpp"
#include "gateway/pipeline/fill.hpp"
#include "gateway/pipeline/present.hpp"
#include "gateway/pipeline/reply.hpp"

namespace idem::gateway::pipeline {

/// What the caller asked for and who it is.
struct follow_request {
    const asked* order = nullptr;  // the follower's own copy: the fill may be over first
    wish wants;
    bool leads = false;
    bool trailers = false;  // TE: trailers
    exposure expose = exposure::full;
    receipts::book* receipts = nullptr;  // set where the caller asks for a receipt
    std::string_view request_id;
    std::string_view via;
    std::string_view cors;
    net::time_point started;
};

/// What happened, for log and metrics.
struct followed {
    outcome what = outcome::miss;
    reason why = reason::none;
    unsigned status = 0;
    bool aborted = false;  // the client left, or the answer broke
    bool lossy = false;    // nothing was sent: `answer` cannot become the wanted form, or was never whole
    bool stored = false;   // `answer` is in the store
    net::time_point first_byte{};
    cache::entry_ptr answer;  // for age, tokens, model
    std::string_view tier;
    unsigned upstream_status = 0;
    std::uint32_t upstream_ms = 0, retries = 0;
    std::string replica;
};

[[nodiscard]] net::task<followed> follow(http::transaction& to, cache::follower& place, const follow_request& r);

}  // namespace idem::gateway::pipeline
