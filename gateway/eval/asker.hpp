#pragma once
// One call of an evaluation, with the times that matter. One thread.
#include <set>
#include <string>

#include "upstream/client/exchange.hpp"
#include "upstream/client/pool.hpp"

namespace idem::gateway::eval {

namespace net = upstream::net;

struct told {
    unsigned status = 0;  // 0: no answer
    std::string error;    // a reason; empty if the answer came whole
    std::string detail;   // with error, for people; may be empty
    std::string content_type, body;
    std::string cache;  // X-Cache, as a gateway says it
    double first_byte_ms = 0, total_ms = 0;
};

inline constexpr std::size_t answer_cap = std::size_t{8} << 20;

/// The exchanges that are under way, for whoever has to end them all.
class live_calls {
public:
    void abort() noexcept {
        for (upstream::client::exchange* each : now_) each->abort();
    }

private:
    friend class live_call;
    std::set<upstream::client::exchange*> now_;
};

/// `stop_after`: hangs up after so many bytes of the body; 0: never. `connections`, `to`, `credential` and `live`
/// outlive it.
[[nodiscard]] net::task<told> ask(upstream::client::pool& connections, const upstream::client::target& to,
                                  upstream::client::timeouts limits, const upstream::http::fields& credential,
                                  live_calls& live, std::string path, std::string body, std::size_t stop_after = 0);

}  // namespace idem::gateway::eval
