#include "gateway/app/worker.hpp"

#include <pthread.h>
#include <boost/asio/post.hpp>
#include <cstring>

namespace idem::gateway::app {

namespace {

http::server_limits limits_of(const pipeline::shared& common) {
    const config::configuration& c = common.plan.settings();
    http::server_limits l;
    l.connections = std::max(1u, common.connections / std::max(1u, common.threads));
    l.head = c.listen.head_timeout;
    l.body_idle = c.listen.body_idle;
    l.keep_alive = c.listen.keep_alive;
    l.write_stall = c.listen.write_stall;
    return l;
}

}  // namespace

worker::worker(pipeline::shared& common, unsigned index)
    : common_(common),
      index_(index),
      pool_(io_.get_executor()),
      fills_(io_.get_executor(), observe::log_escape),
      settling_(io_.get_executor(), observe::log_escape),
      housekeeping_(io_.get_executor(), observe::log_escape),
      services_{common, index, io_.get_executor(), pool_, fills_, settling_},
      front_(services_),
      server_(io_.get_executor(), front_, limits_of(common)),
      work_(io_.get_executor()) {
    std::uint64_t seed = 0;
    const id128 random = random_id();
    std::memcpy(&seed, random.bytes.data(), sizeof seed);
    services_.dice = upstream::determinism::shadow_dice(seed);
}

worker::~worker() {
    if (thread_.joinable()) join();
}

std::string worker::listen(const config::address& at, std::shared_ptr<boost::asio::ssl::context> tls) {
    return server_.listen(at.host, at.port, std::move(tls), index_ == 0 ? net::seat::first : net::seat::further);
}

void worker::start() {
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), ("idem-io-" + std::to_string(index_)).c_str());
        housekeeping_.spawn(tick());
        io_.run();
    });
}

// Hands the access log on and publishes the thread's gauges.
net::task<void> worker::tick() {
    net::timer wake(io_.get_executor());
    for (;;) {
        wake.expires_after(std::chrono::milliseconds(100));
        auto [ec] = co_await wake.async_wait(net::use_task);
        if (ec) co_return;
        common_.access.flush(index_);
        running_fills_.store(fills_.size(), std::memory_order_relaxed);
        idle_upstream_.store(pool_.idle(), std::memory_order_relaxed);
    }
}

void worker::drain() {
    boost::asio::post(io_, [this] { server_.drain(); });
}

void worker::stop_accepting() {
    boost::asio::post(io_, [this] { server_.stop_accepting(); });
}

void worker::cancel_fills() {
    boost::asio::post(io_, [this] { fills_.cancel(); });
}

void worker::stop() {
    boost::asio::post(io_, [this] {
        services_.ending = true;
        server_.stop_accepting();
        server_.stop();
        fills_.cancel();
        settling_.cancel();
        pool_.drain();
    });
}

bool worker::idle() const noexcept {
    return server_.counters().open == 0 && fills() == 0;
}

void worker::join() {
    boost::asio::post(io_, [this] {
        common_.access.flush(index_);
        housekeeping_.cancel();
        work_.reset();
    });
    if (thread_.joinable()) thread_.join();
}

}  // namespace idem::gateway::app
