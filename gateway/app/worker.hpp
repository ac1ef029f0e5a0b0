#pragma once
// One I/O thread: its io_context, its part of the pipeline and its listening socket. Constructed, started and joined by
// run(); everything inside belongs to the thread. The order of members is the order of dependence: what is used
// outlives its users.
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "gateway/http/server.hpp"
#include "gateway/pipeline/front.hpp"
#include "gateway/pipeline/services.hpp"

namespace idem::gateway::app {

namespace net = upstream::net;

class worker {
public:
    worker(pipeline::shared& common, unsigned index);
    ~worker();
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;

    /// Before start(); worker 0 takes the port, the others join it. Returns an error text, empty if all is well.
    [[nodiscard]] std::string listen(const config::address& at, std::shared_ptr<boost::asio::ssl::context> tls);
    [[nodiscard]] std::uint16_t port() const noexcept { return server_.port(); }
    void start();

    // From any thread; carried out on the worker's.
    void drain();
    void stop_accepting();
    /// Every fill that still runs ends, and its callers are told.
    void cancel_fills();
    /// Closes every connection and cancels every fill.
    void stop();
    /// No connection is open and no fill runs.
    [[nodiscard]] bool idle() const noexcept;
    /// After stop(): ends the io_context once its tasks have ended, and joins the thread.
    void join();

    [[nodiscard]] http::server_counters connections() const noexcept { return server_.counters(); }
    [[nodiscard]] std::size_t fills() const noexcept { return running_fills_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t idle_upstream() const noexcept { return idle_upstream_.load(std::memory_order_relaxed); }

private:
    [[nodiscard]] net::task<void> tick();

    boost::asio::io_context io_{1};
    pipeline::shared& common_;
    const unsigned index_;
    upstream::client::pool pool_;
    net::task_group fills_;
    net::task_group settling_;
    net::task_group housekeeping_;
    pipeline::services services_;
    pipeline::front front_;
    http::server server_;
    std::atomic<std::size_t> running_fills_{0}, idle_upstream_{0};
    boost::asio::executor_work_guard<net::executor> work_;
    std::thread thread_;
};

}  // namespace idem::gateway::app
