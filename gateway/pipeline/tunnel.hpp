#pragma once
// Bytes both ways after an upgrade (RFC 9110 section 7.8), until either end closes.
#include "gateway/http/transaction.hpp"
#include "upstream/client/exchange.hpp"
#include "upstream/net/task_group.hpp"

namespace idem::gateway::pipeline {

/// The 101 has been written. Each direction has its own coroutine, so each is under its own back-pressure; the end of
/// one ends the other.
[[nodiscard]] upstream::net::task<void> tunnel(http::transaction& client, upstream::client::exchange& server);

}  // namespace idem::gateway::pipeline
