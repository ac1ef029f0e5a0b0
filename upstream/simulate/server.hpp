#pragma once
// The simulated engine as an HTTP/1.1 server, for demonstrations, tests and benchmarks: keep-alive, no logging, one
// io_context a thread. `GET /simulate/stats` tells its counters.
#include <boost/system/error_code.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "upstream/simulate/options.hpp"
#include "upstream/simulate/stats.hpp"

namespace idem::upstream::simulate {

class simulator {
public:
    explicit simulator(simulate_options options);
    /// Stops.
    ~simulator();
    simulator(const simulator&) = delete;
    simulator& operator=(const simulator&) = delete;

    /// Binds and serves on threads of its own. To be called once.
    [[nodiscard]] boost::system::error_code start();
    /// Closes every connection and joins the threads. May be called twice.
    void stop();
    /// The bound port, after start().
    [[nodiscard]] std::uint16_t port() const noexcept;
    /// "http://127.0.0.1:8000"
    [[nodiscard]] std::string url() const;
    [[nodiscard]] simulate_stats stats() const noexcept;

private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace idem::upstream::simulate
