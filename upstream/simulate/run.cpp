#include "upstream/simulate/run.hpp"

#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>

#include "upstream/net/net.hpp"
#include "upstream/simulate/server.hpp"

namespace idem::upstream::simulate {

int run_simulate(const simulate_options& options) {
    simulator engine(options);
    if (const auto ec = engine.start()) {
        std::fprintf(stderr, "idem simulate: cannot listen on %s:%u: %s\n", options.address.c_str(), options.port,
                     ec.message().c_str());
        return 1;
    }
    std::printf("simulating %s on %s\n", options.engine.c_str(), engine.url().c_str());
    std::fflush(stdout);
    net::asio::io_context waiting(1);
    net::asio::signal_set signals(waiting, SIGINT, SIGTERM);
    signals.async_wait([](const boost::system::error_code&, int) {});
    waiting.run();
    engine.stop();
    return 0;
}

}  // namespace idem::upstream::simulate
