#pragma once
// How long the next bytes of a request body may take: an idle limit, a ceiling, and a minimum rate after a grace time,
// so that a body that trickles cannot hold a connection. Only time spent waiting for the client counts; time that the
// gateway takes is not held against it. Pure: time is an argument.
#include <cstdint>

#include "gateway/http/server.hpp"

namespace idem::gateway::http {

class pace {
public:
    void restart() noexcept { *this = pace{}; }
    /// Waiting for bytes begins; returns when it has to end.
    [[nodiscard]] net::time_point wait(net::time_point now, const server_limits& limits) noexcept;
    void arrived(net::time_point now, std::size_t bytes) noexcept;

private:
    net::time_point since_{};
    net::duration waited_{};
    std::uint64_t bytes_ = 0;
};

}  // namespace idem::gateway::http
