#pragma once
// One call of an evaluation, with the times that matter. One thread.
#include <string>

#include "upstream/client/exchange.hpp"
#include "upstream/client/pool.hpp"

namespace idem::gateway::eval {

namespace net = upstream::net;

struct told {
    unsigned status = 0;  // 0: no answer
    std::string error;    // a reason; empty if the answer came whole
    std::string content_type, body;
    double first_byte_ms = 0, total_ms = 0;
};

inline constexpr std::size_t answer_cap = std::size_t{8} << 20;

/// `stop_after`: hangs up after so many bytes of the body; 0: never. `pool`, `to` and `credential` outlive it.
[[nodiscard]] net::task<told> ask(upstream::client::pool& connections, const upstream::client::target& to,
                                  upstream::client::timeouts limits, const upstream::http::fields& credential,
                                  std::string path, std::string body, std::size_t stop_after = 0);

}  // namespace idem::gateway::eval
