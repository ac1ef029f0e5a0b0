#pragma once
// The parts of a running gateway and their order: what is used outlives its users.
//
// Threads: one a worker (data port), one for control (signals, admin and health ports, epochs), and the main thread,
// which only waits for the end and takes everything down.
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cache/state/local_coordination.hpp"
#include "gateway/app/lease_keeper.hpp"
#include "gateway/app/worker.hpp"
#include "gateway/config/config.hpp"
#include "gateway/receipts/book.hpp"
#include "gateway/shadow/runner.hpp"

namespace idem::gateway::app {

class admin_side;
class replica_side;

class runtime {
public:
    explicit runtime(config::snapshot configuration);
    ~runtime();
    runtime(const runtime&) = delete;
    runtime& operator=(const runtime&) = delete;

    /// Opens the store and the sockets. An error text, empty if all is well.
    [[nodiscard]] std::string open();
    /// Serves until a signal has ended the drain, then closes everything.
    void run();

    // For the admin side; any thread.
    [[nodiscard]] const config::configuration& settings() const noexcept { return *configuration_; }
    [[nodiscard]] bool draining() const noexcept { return draining_.load(std::memory_order_relaxed); }
    [[nodiscard]] pipeline::shared& shared() noexcept { return *shared_; }
    [[nodiscard]] const std::vector<std::unique_ptr<worker>>& workers() const noexcept { return workers_; }
    [[nodiscard]] observe::metrics& metrics() noexcept { return metrics_; }
    /// Control thread.
    [[nodiscard]] replica_side& replicas() noexcept { return *replicas_; }
    [[nodiscard]] shadow::runner& shadow() noexcept { return *shadow_; }

private:
    [[nodiscard]] std::string open_store();
    [[nodiscard]] std::string open_shared();
    void share_replicas();
    void open_shadow();
    [[nodiscard]] std::string open_listeners();
    [[nodiscard]] net::task<void> obey_signals();
    [[nodiscard]] net::task<void> hear_hangups();
    [[nodiscard]] net::task<void> drain();
    /// Until no connection is open and no fill runs, or `limit`.
    [[nodiscard]] net::task<void> wait_idle(net::time_point limit);
    [[nodiscard]] bool idle() const noexcept;
    void finished();

    config::snapshot configuration_;
    const unsigned threads_;
    pipeline::plan plan_;
    observe::metrics metrics_;
    observe::access_log access_;
    cache::bans bans_;
    cache::memory_store memory_;
    std::unique_ptr<cache::store> second_;
    cache::flight_table flights_;
    cache::epochs epochs_;
    pipeline::body_budget bodies_;
    pipeline::call_gate limits_;
    cache::bindings bindings_;
    cache::local_coordination alone_;  // where there is no second tier
    std::unique_ptr<pipeline::shared> shared_;
    std::vector<std::unique_ptr<worker>> workers_;
    boost::asio::io_context control_{1};
    boost::asio::executor_work_guard<net::executor> control_work_;
    net::task_group tasks_;
    lease_keepers leases_;
    std::unique_ptr<receipts::book> book_;  // null: no policy has receipts
    std::unique_ptr<replica_side> replicas_;
    std::unique_ptr<shadow::desk> desk_;
    std::unique_ptr<shadow::runner> shadow_;
    std::unique_ptr<admin_side> admin_;
    std::atomic<bool> draining_{false};
    std::promise<void> drained_;
    bool told_ = false;  // control thread: drained_ has been set
};

}  // namespace idem::gateway::app
