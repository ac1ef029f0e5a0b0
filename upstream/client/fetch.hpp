#pragma once
// One whole request and its whole answer, for what Idem asks on its own behalf. One thread.
#include <cstddef>
#include <string>
#include <string_view>

#include "upstream/client/exchange.hpp"
#include "upstream/client/pool.hpp"

namespace idem::upstream::client {

struct fetched {
    failure broke;  // no answer, or not a whole one
    unsigned status = 0;
    http::fields headers;
    std::string body;
    bool reused = false;  // on a connection that was open before
};

/// `ask` has no target and no framing yet. An answer above `cap` is upstream_malformed. `connections` and `to` outlive
/// the call. `running`, if given, points to the exchange while there is one, for whoever may have to abort it.
[[nodiscard]] net::task<fetched> fetch(pool& connections, const target& to, timeouts limits, outgoing ask,
                                       std::string path, std::string body, std::size_t cap,
                                       exchange** running = nullptr);

}  // namespace idem::upstream::client
