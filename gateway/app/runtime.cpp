#include "gateway/app/runtime.hpp"

#include <sys/resource.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_future.hpp>
#include <csignal>
#include <fstream>
#include <iterator>

#include "gateway/app/admin_side.hpp"
#include "gateway/app/banner.hpp"
#include "gateway/app/cores.hpp"
#include "gateway/app/gauges.hpp"
#include "gateway/app/open_book.hpp"
#include "gateway/app/open_store.hpp"
#include "gateway/app/replica_side.hpp"
#include "gateway/http/tls.hpp"
#include "gateway/observe/log.hpp"

namespace idem::gateway::app {

namespace {

/// Request bodies held at once, at least; one of the largest size always fits.
constexpr std::uint64_t body_bytes = std::uint64_t{256} << 20;

/// How long callers that are cut at the end of the drain have to take what they are told.
constexpr net::duration farewell = std::chrono::seconds(1);

/// Kept back for listeners, the store's files, Redis, the admin port and what the libraries open.
constexpr std::uint64_t reserved_descriptors = 96;

/// The most client connections: what is configured, if the limit of descriptors lets each have one upstream too. The
/// soft limit is often 1,024 for the sake of select(2) alone, so it is raised to the hard one. Only who asked for more
/// is warned: the default is more than most need.
std::uint32_t client_connections(const config::listener& listen) {
    const std::uint32_t wanted = listen.connections;
    const bool asked_for = wanted != config::listener{}.connections;
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    const std::uint64_t room = limit.rlim_max > reserved_descriptors ? (limit.rlim_max - reserved_descriptors) / 2 : 0;
    const auto most = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(room, 1, wanted));
    if (most < wanted)
        observe::log(asked_for ? observe::level::warning : observe::level::info, "connections_lowered",
                     "listen.connections is " + std::to_string(wanted) + ", but the limit of open files (" +
                         std::to_string(limit.rlim_max) + ") leaves room for " + std::to_string(most) +
                         "; raise it with ulimit -n");
    return most;
}

unsigned threads_of(const config::configuration& c) {
    return c.listen.threads != 0 ? c.listen.threads : usable_cores();
}

cache::call_limit_rules limits_of(const config::limits& l) {
    return {.calls = l.calls, .caller_calls = l.caller_calls, .per_minute = l.per_minute, .burst = l.burst};
}

std::string pseudonym() {
    const id128 id = random_id();
    return "1.1 idem-" + to_hex(std::span(id.bytes).first(4));
}

}  // namespace

runtime::runtime(config::snapshot configuration)
    : configuration_(std::move(configuration)),
      threads_(threads_of(*configuration_)),
      plan_(configuration_),
      metrics_(threads_),
      access_(configuration_->observe.access_log == config::observe::access::json),
      memory_(configuration_->cache.memory, &bans_),
      epochs_(configuration_->upstreams.size()),
      bodies_(std::max<std::uint64_t>(body_bytes, 2 * configuration_->listen.body)),
      limits_(limits_of(configuration_->limits)),
      control_work_(control_.get_executor()),
      tasks_(control_.get_executor(), observe::log_escape),
      leases_(control_.get_executor()) {}

runtime::~runtime() = default;

std::string runtime::open_store() {
    if (configuration_->cache.store == config::cache::tier::memory) return {};
    std::string error;
    second_ = open_second_tier(configuration_->cache, error);
    if (second_) memory_.watch(second_->outages());
    return error;
}

std::string runtime::open_shared() {
    auto scope = cache::parse_scope(configuration_->cache.scope);
    if (!scope)
        return "cache.scope: " + configuration_->cache.scope + " is not credential, client, shared or header:NAME";
    scope->secret = configuration_->cache.key_secret;
    for (const std::string& block : configuration_->listen.trusted) {
        const auto parsed = cache::cidr::parse(block);
        if (!parsed) return "listen.trusted: " + block + " is not an address block such as 10.0.0.0/8";
        scope->trusted.push_back(*parsed);
    }
    std::optional<cache::client_table> clients;
    if (const std::string& path = configuration_->listen.clients_file; !path.empty()) {
        std::ifstream file(path);
        if (!file) return "listen.clients: cannot read " + path;
        auto loaded = cache::client_table::load(std::string(std::istreambuf_iterator<char>(file), {}));
        if (!loaded.faults.empty())
            return path + ":" + std::to_string(loaded.faults[0].line) + ": " + loaded.faults[0].message;
        clients = std::move(loaded.table);
    }
    cache::coordination& coordination = second_ ? static_cast<cache::coordination&>(*second_) : alone_;
    shared_ = std::make_unique<pipeline::shared>(
        plan_, threads_, std::move(*scope), std::move(clients), memory_, second_.get(), coordination, flights_, epochs_,
        bans_, metrics_, access_, pseudonym(), bodies_, limits_, bindings_, client_connections(configuration_->listen));
    for (const pipeline::upstream_plan& u : plan_.upstreams())
        shared_->health.push_back(std::make_unique<pipeline::upstream_health>(u));
    std::string unopened;
    book_ = open_book(*configuration_, control_.get_executor(), second_.get(), unopened);
    if (!unopened.empty()) return unopened;
    shared_->receipts = book_.get();
    replicas_ = std::make_unique<replica_side>(control_.get_executor(), tasks_, *shared_, epochs_, bans_, memory_,
                                               configuration_->cache.store == config::cache::tier::redis);
    open_shadow();
    return replicas_->open();
}

namespace {

net::task<bool> order_quarantine(replica_side& of, std::size_t upstream, std::size_t replica) {
    replicas::keeper* keeper = of.keeper_of(upstream);
    if (!keeper) co_return false;  // not watched: nobody is admitted, and nobody put out
    co_return co_await keeper->order(replica, replicas::wish::what::diverged);
}

}  // namespace

void runtime::open_shadow() {
    desk_ = std::make_unique<shadow::desk>(plan_.upstreams().size());
    shared_->shadow = desk_.get();
    shadow_ = std::make_unique<shadow::runner>(
        control_.get_executor(), *shared_, *desk_,
        [this](std::size_t upstream, std::size_t replica) { return order_quarantine(*replicas_, upstream, replica); });
}

std::string runtime::open_listeners() {
    std::shared_ptr<boost::asio::ssl::context> tls;
    const config::listener& listen = configuration_->listen;
    if (!listen.tls_certificate.empty()) {
        std::string error;
        tls = http::make_tls_context({listen.tls_certificate, listen.tls_key, listen.tls_client_ca}, error);
        if (!tls) return error;
    }
    config::address at = listen.at;
    for (unsigned i = 0; i < threads_; ++i) {
        workers_.push_back(std::make_unique<worker>(*shared_, i));
        if (std::string error = workers_.back()->listen(at, tls); !error.empty()) return error;
        at.port = workers_.back()->port();  // port 0: all threads share the one that the first was given
    }
    observe::log(observe::level::info, "listening",
                 (tls ? "https://" : "http://") + at.host + ":" + std::to_string(at.port));
    return {};
}

std::string runtime::open() {
    std::signal(SIGPIPE, SIG_IGN);
    if (std::string error = open_store(); !error.empty()) return error;
    if (std::string error = open_shared(); !error.empty()) return error;
    if (std::string error = open_listeners(); !error.empty()) return error;
    admin_ = std::make_unique<admin_side>(*this, control_.get_executor());
    if (std::string error = admin_->listen(); !error.empty()) return error;
    provide_gauges(*this);
    const banner b = storage_banner(*configuration_, second_ ? std::optional(second_->stats()) : std::nullopt);
    observe::log(b.good ? observe::level::info : observe::level::warning, "storage", b.text);
    return {};
}

void runtime::run() {
    tasks_.spawn(obey_signals());
    tasks_.spawn(hear_hangups());
    replicas_->start();
    shadow_->start();
    share_replicas();
    for (auto& w : workers_) w->start();
    std::thread control([this] { control_.run(); });
    drained_.get_future().wait();

    boost::asio::co_spawn(control_, shadow_->end(), boost::asio::use_future).wait();
    boost::asio::co_spawn(control_, leases_.end(), boost::asio::use_future).wait();
    for (auto& w : workers_) w->stop();
    boost::asio::post(control_, [this] { admin_->stop(); });
    // Before the store: the last head may go there.
    if (book_) book_->close();
    // While every thread still runs: the store ends its work on the threads that began it.
    if (second_) second_->close();
    for (auto& w : workers_) w->join();
    boost::asio::post(control_, [this] {
        tasks_.cancel();
        replicas_->stop();
        control_work_.reset();
    });
    control.join();
    observe::log(observe::level::info, "stopped", "");
}

// Only who shares the store may share a replica; the processes of one host share an embedded one.
void runtime::share_replicas() {
    if (!second_) return;
    const id128 holder = random_id();
    for (const pipeline::upstream_plan& u : plan_.upstreams()) {
        if (!u.concurrency.shares_by_lease()) continue;
        for (std::size_t i = 0; i < u.candidates.size(); ++i)
            leases_.keep({second_.get(), shared_->health[u.index].get(), &u, i, holder});
    }
}

net::task<void> runtime::hear_hangups() {
    boost::asio::basic_signal_set<net::executor> hangups(control_.get_executor(), SIGHUP);
    for (;;) {
        auto [ec, number] = co_await hangups.async_wait(net::use_task);
        if (ec) co_return;
        observe::log(observe::level::warning, "not_reloaded",
                     "SIGHUP: the configuration is read at the start only; restart to change it");
    }
}

net::task<void> runtime::obey_signals() {
    boost::asio::basic_signal_set<net::executor> signals(control_.get_executor(), SIGTERM, SIGINT);
    auto [first, number] = co_await signals.async_wait(net::use_task);
    if (first) co_return;
    draining_.store(true, std::memory_order_relaxed);
    observe::log(observe::level::info, "draining", "signal " + std::to_string(number));
    tasks_.spawn(drain());
    auto [second, again] = co_await signals.async_wait(net::use_task);
    if (second) co_return;
    finished();  // whoever asks twice does not want to wait
}

bool runtime::idle() const noexcept {
    for (const auto& w : workers_) {
        if (!w->idle()) return false;
    }
    return true;
}

// Readiness fails first and new callers are still served: load balancers learn of it later than the pod.
net::task<void> runtime::drain() {
    for (auto& w : workers_) w->drain();
    net::timer wake(control_.get_executor());
    const net::time_point accept_until = net::clock::now() + configuration_->listen.drain_delay;
    const net::time_point limit = accept_until + configuration_->listen.drain_limit;
    wake.expires_at(accept_until);
    auto [ec] = co_await wake.async_wait(net::use_task);
    if (ec) co_return;
    for (auto& w : workers_) w->stop_accepting();
    co_await wait_idle(limit);
    if (!idle()) {
        // Whoever still waits or reads is told why before the connection breaks.
        shared_->stopping.store(true, std::memory_order_relaxed);
        for (auto& w : workers_) w->cancel_fills();
        co_await wait_idle(net::clock::now() + farewell);
    }
    finished();
}

net::task<void> runtime::wait_idle(net::time_point limit) {
    net::timer wake(control_.get_executor());
    while (!idle() && net::clock::now() < limit) {
        wake.expires_after(std::chrono::milliseconds(20));
        auto [ended] = co_await wake.async_wait(net::use_task);
        if (ended) co_return;
    }
}

void runtime::finished() {
    if (std::exchange(told_, true)) return;
    drained_.set_value();
}

}  // namespace idem::gateway::app
