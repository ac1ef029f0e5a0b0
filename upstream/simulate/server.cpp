#include "upstream/simulate/server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <list>
#include <random>
#include <thread>

#include "upstream/net/listen.hpp"
#include "upstream/simulate/session.hpp"

namespace idem::upstream::simulate {
namespace {

// A client that says nothing for so long is dropped; longer than any client keeps idle connections.
constexpr auto idle_limit = std::chrono::seconds(120);
constexpr auto sweep_interval = std::chrono::seconds(10);

// One thread with its own listening socket and its sessions, all of which end before the thread does.
class worker {
public:
    worker(const simulate_options& options, engine_state& state)
        : options_(options),
          state_(state),
          acceptor_(context_.get_executor()),
          sweep_(context_.get_executor()),
          random_(std::random_device{}()) {}

    net::error_code listen(const net::tcp::endpoint& at, net::seat how) { return net::listen(acceptor_, at, how); }

    std::uint16_t port() const {
        net::error_code ec;
        return acceptor_.local_endpoint(ec).port();
    }

    void start() {
        spawn(accept());
        spawn(sweep());
        thread_ = std::thread([this] { context_.run(); });
    }

    void stop() {
        net::asio::post(context_.get_executor(), [this] { close(); });
        if (thread_.joinable()) thread_.join();
    }

private:
    // The context is the owner that joins: run() returns when nothing is left.
    void spawn(net::task<> work) {
        net::asio::co_spawn(context_.get_executor(), std::move(work), [](std::exception_ptr escaped) {
            if (escaped) std::terminate();  // nothing in here throws but for lack of memory
        });
    }

    void close() {
        stopping_ = true;
        net::error_code ignored;
        acceptor_.close(ignored);
        sweep_.cancel();
        retry_pause_.cancel();
        for (session& each : sessions_) each.close();
    }

    net::task<> accept() {
        while (!stopping_) {
            net::tcp_socket socket(context_.get_executor());
            auto [ec] = co_await acceptor_.async_accept(socket, net::use_task);
            if (stopping_) break;
            if (ec) {  // out of descriptors, or the client was gone already
                retry_pause_.expires_after(std::chrono::milliseconds(10));
                auto [waited] = co_await retry_pause_.async_wait(net::use_task);
                if (waited) break;
                continue;
            }
            sessions_.emplace_front(std::move(socket), options_, state_, random_);
            spawn(serve(sessions_.begin()));
        }
    }

    net::task<> serve(std::list<session>::iterator position) {
        co_await position->run();
        sessions_.erase(position);
    }

    net::task<> sweep() {
        while (!stopping_) {
            sweep_.expires_after(sweep_interval);
            auto [ec] = co_await sweep_.async_wait(net::use_task);
            if (ec) break;
            const net::time_point limit = net::clock::now() - idle_limit;
            for (session& each : sessions_) {
                if (each.idle_since(limit)) each.close();
            }
        }
    }

    const simulate_options& options_;
    engine_state& state_;
    net::asio::io_context context_{1};
    net::tcp_acceptor acceptor_;
    net::timer sweep_;
    net::timer retry_pause_{context_.get_executor()};
    std::mt19937_64 random_;
    std::list<session> sessions_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace

struct simulator::impl {
    explicit impl(simulate_options o) : options(std::move(o)) {}
    simulate_options options;
    engine_state state{options};
    std::list<worker> workers;
    std::uint16_t port = 0;
};

simulator::simulator(simulate_options options) : impl_(std::make_unique<impl>(std::move(options))) {}

simulator::~simulator() {
    stop();
}

boost::system::error_code simulator::start() {
    boost::system::error_code ec;
    const auto address = net::asio::ip::make_address(impl_->options.address, ec);
    if (ec) return ec;
    impl_->port = impl_->options.port;
    for (unsigned i = 0; i < std::max(1U, impl_->options.threads); ++i) {
        worker& w = impl_->workers.emplace_back(impl_->options, impl_->state);
        ec = w.listen({address, impl_->port}, i == 0 ? net::seat::first : net::seat::further);
        if (ec) {
            impl_->workers.clear();
            return ec;
        }
        impl_->port = w.port();
    }
    impl_->state.started = net::clock::now();
    for (worker& w : impl_->workers) w.start();
    return {};
}

void simulator::stop() {
    for (worker& w : impl_->workers) w.stop();
    impl_->workers.clear();
}

std::uint16_t simulator::port() const noexcept {
    return impl_->port;
}

std::string simulator::url() const {
    const bool v6 = impl_->options.address.find(':') != std::string::npos;
    const std::string host = v6 ? "[" + impl_->options.address + "]" : impl_->options.address;
    return "http://" + host + ":" + std::to_string(impl_->port);
}

simulate_stats simulator::stats() const noexcept {
    return impl_->state.counts.snapshot();
}

}  // namespace idem::upstream::simulate
