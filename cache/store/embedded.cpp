#include "cache/store/embedded.hpp"

#include <boost/asio/this_coro.hpp>
#include <thread>
#include <utility>

#include "cache/store/breaker.hpp"
#include "cache/store/embedded_file.hpp"
#include "cache/store/embedded_reader.hpp"
#include "cache/store/embedded_shared.hpp"
#include "cache/store/embedded_writer.hpp"
#include "cache/store/pending.hpp"

namespace idem::cache {
namespace {

namespace net = upstream::net;

constexpr std::size_t most_lookups = 16'384;
constexpr std::uint64_t smallest = 1 << 20;

// Everything that the threads touch. Held by each of them: one that hangs in the file system at shutdown is left behind
// with all it needs.
struct shared_state {
    explicit shared_state(embedded_options o)
        : options(std::move(o)),
          condition(options.log),
          lookups(SIZE_MAX, most_lookups),
          writer(options, condition, counters, recent) {}

    const embedded_options options;
    embedded_condition condition;
    embedded_counters counters;
    recent_use recent;
    breaker reads, writes;
    read_queue lookups;
    embedded_writer writer;

    std::mutex mutex;
    std::condition_variable ended;
    unsigned running = 0;
};

void end_thread(shared_state& s) {
    {
        const std::lock_guard lock(s.mutex);
        --s.running;
    }
    s.ended.notify_all();
}

void writer_thread(std::shared_ptr<shared_state> s) {
    s->writer.run();
    end_thread(*s);
}

void reader_thread(std::shared_ptr<shared_state> s) {
    {
        embedded_reader reader(s->options, s->lookups, s->writer, s->counters, s->recent);
        reader.run();
    }
    end_thread(*s);
}

class embedded_store final : public store {
public:
    explicit embedded_store(embedded_options options) : state_(std::make_shared<shared_state>(std::move(options))) {
        state_->writer.open();
        state_->running = state_->options.readers + 1;
        threads_.emplace_back(writer_thread, state_);
        for (unsigned i = 0; i < state_->options.readers; ++i) threads_.emplace_back(reader_thread, state_);
    }
    ~embedded_store() override { close(); }

    std::string_view name() const noexcept override { return "embedded"; }
    net::task<lookup> find(cache_key key, unix_ms now) override;
    net::task<put_result> put(entry_ptr value, id128 replaces, unix_ms now) override;
    net::task<erase_status> erase(cache_key key) override;
    [[nodiscard]] net::task<entry_page> list(std::string from, std::size_t most) override;
    void scrub() noexcept override;
    net::task<bind_result> bind(binding wanted, unix_ms now) override;
    net::task<record_result> read_record(std::string name) override;
    net::task<record_result> write_record(std::string name, std::string value, std::uint64_t expected) override;
    net::task<lease_result> lease(std::string name, id128 holder, std::chrono::milliseconds length) override;
    net::task<lease_result> release(std::string name, id128 holder, bool settled) override;
    bool keeps_ledger() const noexcept override { return state_->options.ledger.count() > 0; }
    net::task<noted> note(ledger_record fill) override;
    net::task<ledger_page> read_ledger(std::string from) override;
    store_stats stats() const override;
    void close() noexcept override;

private:
    [[nodiscard]] net::time_point deadline() const { return net::clock::now() + state_->options.deadline; }
    // Why a write cannot even be queued, or none.
    [[nodiscard]] reason closed_to_writes();
    [[nodiscard]] reason closed_to_reads();
    void answered(breaker& b, bool in_time);
    /// Hands a write to the writer and waits. A fresh Result with a reason where that cannot be, or not in time.
    template <class Result, class Job>
    [[nodiscard]] net::task<Result> write(Job job, std::size_t bytes);
    /// The same of a reader.
    template <class Result, class Job>
    [[nodiscard]] net::task<Result> read(Job job);

    const std::shared_ptr<shared_state> state_;
    std::vector<std::thread> threads_;
};

void count(std::atomic<std::uint64_t>& counter) {
    counter.fetch_add(1, std::memory_order_relaxed);
}

reason embedded_store::closed_to_writes() {
    if (!state_->condition.writable()) return reason::store_unavailable;
    if (!state_->writes.allow(net::clock::now())) return reason::store_open_breaker;
    return reason::none;
}

reason embedded_store::closed_to_reads() {
    if (!state_->condition.readable()) return reason::store_unavailable;
    if (!state_->reads.allow(net::clock::now())) return reason::store_open_breaker;
    return reason::none;
}

void embedded_store::answered(breaker& b, bool in_time) {
    if (in_time) return b.success();
    count(state_->counters.timeouts);
    b.failure(net::clock::now());
}

net::task<lookup> embedded_store::find(cache_key key, unix_ms now) {
    if (state_->writer.surely_absent(key)) co_return lookup{};
    lookup failed;
    failed.status = lookup_status::failed;
    failed.why = closed_to_reads();
    if (failed.why != reason::none) {
        count(state_->counters.failed_reads);
        co_return failed;
    }
    const auto executor = co_await net::asio::this_coro::executor;
    auto answer = std::make_shared<pending<lookup>>(executor);
    if (!state_->lookups.push(find_job{key, now, answer}, 0)) {
        count(state_->counters.failed_reads);
        failed.why = reason::store_unavailable;
        co_return failed;
    }
    auto result = co_await await_pending(std::move(answer), deadline());
    answered(state_->reads, result.has_value());
    failed.why = reason::store_timeout;
    co_return result ? std::move(*result) : std::move(failed);
}

net::task<put_result> embedded_store::put(entry_ptr value, id128 replaces, unix_ms now) {
    if (const reason why = closed_to_writes(); why != reason::none) {
        count(state_->counters.failed_writes);
        co_return put_result{put_status::failed, nullptr, why};
    }
    const auto executor = co_await net::asio::this_coro::executor;
    auto answer = std::make_shared<pending<put_result>>(executor);
    const std::size_t bytes = charge(*value);
    if (!state_->writer.push(put_job{std::move(value), replaces, now, answer, {}, {}}, bytes)) {
        count(state_->counters.refused);
        co_return put_result{put_status::refused, nullptr, reason::store_unavailable};
    }
    auto result = co_await await_pending(std::move(answer), deadline());
    answered(state_->writes, result.has_value());
    co_return result ? std::move(*result) : put_result{put_status::failed, nullptr, reason::store_timeout};
}

net::task<erase_status> embedded_store::erase(cache_key key) {
    if (closed_to_writes() != reason::none) {
        count(state_->counters.failed_writes);
        co_return erase_status::failed;
    }
    const auto executor = co_await net::asio::this_coro::executor;
    auto answer = std::make_shared<pending<erase_status>>(executor);
    if (!state_->writer.push(erase_job{key, answer}, 0)) {
        count(state_->counters.refused);
        co_return erase_status::failed;
    }
    const auto result = co_await await_pending(std::move(answer), deadline());
    answered(state_->writes, result.has_value());
    co_return result.value_or(erase_status::failed);
}

template <class Result, class Job>
net::task<Result> embedded_store::write(Job job, std::size_t bytes) {
    Result failed;
    failed.why = closed_to_writes();
    if (failed.why != reason::none) {
        count(state_->counters.failed_writes);
        co_return failed;
    }
    const auto executor = co_await net::asio::this_coro::executor;
    auto answer = std::make_shared<pending<Result>>(executor);
    job.answer = answer;
    if (!state_->writer.push(std::move(job), bytes)) {
        count(state_->counters.refused);
        failed.why = reason::store_unavailable;
        co_return failed;
    }
    auto result = co_await await_pending(std::move(answer), deadline());
    answered(state_->writes, result.has_value());
    failed.why = reason::store_timeout;
    co_return result ? std::move(*result) : std::move(failed);
}

net::task<bind_result> embedded_store::bind(binding wanted, unix_ms now) {
    bind_job job{wanted, now, nullptr, {}};
    co_return co_await write<bind_result>(std::move(job), sizeof(bind_job));
}

template <class Result, class Job>
net::task<Result> embedded_store::read(Job job) {
    Result failed;
    failed.why = closed_to_reads();
    if (failed.why != reason::none) {
        count(state_->counters.failed_reads);
        co_return failed;
    }
    const auto executor = co_await net::asio::this_coro::executor;
    auto answer = std::make_shared<pending<Result>>(executor);
    job.answer = answer;
    if (!state_->lookups.push(std::move(job), 0)) {
        count(state_->counters.failed_reads);
        failed.why = reason::store_unavailable;
        co_return failed;
    }
    auto result = co_await await_pending(std::move(answer), deadline());
    answered(state_->reads, result.has_value());
    failed.why = reason::store_timeout;
    co_return result ? std::move(*result) : std::move(failed);
}

net::task<record_result> embedded_store::read_record(std::string name) {
    record_job job{std::move(name), nullptr};
    co_return co_await read<record_result>(std::move(job));
}

net::task<noted> embedded_store::note(ledger_record fill) {
    fill.upstream.resize(std::min(fill.upstream.size(), longest_ledger_upstream));
    ledger_job job{std::move(fill), nullptr};
    co_return co_await write<noted>(std::move(job), sizeof(ledger_job) + longest_ledger_upstream);
}

net::task<ledger_page> embedded_store::read_ledger(std::string from) {
    ledger_page_job job{std::move(from), nullptr};
    co_return co_await read<ledger_page>(std::move(job));
}

net::task<entry_page> embedded_store::list(std::string from, std::size_t most) {
    list_job job{std::move(from), most, nullptr};
    co_return co_await read<entry_page>(std::move(job));
}

// Where the queue is full a later erasure asks again.
void embedded_store::scrub() noexcept {
    (void)state_->writer.push(scrub_job{}, 0);
}

net::task<record_result> embedded_store::write_record(std::string name, std::string value, std::uint64_t expected) {
    if (value.size() > longest_record || name.size() > longest_record_name)
        co_return record_result{record_status::failed, {}, 0, reason::entry_too_large};
    const std::size_t bytes = value.size();
    record_write_job job{std::move(name), std::move(value), expected, nullptr};
    co_return co_await write<record_result>(std::move(job), bytes);
}

net::task<lease_result> embedded_store::lease(std::string name, id128 holder, std::chrono::milliseconds length) {
    lease_job job{std::move(name), holder, std::max(length, std::chrono::milliseconds(1)), true, nullptr};
    co_return co_await write<lease_result>(std::move(job), sizeof(lease_job));
}

net::task<lease_result> embedded_store::release(std::string name, id128 holder, bool settled) {
    lease_job job{std::move(name), holder, std::chrono::milliseconds(0), settled, nullptr};
    co_return co_await write<lease_result>(std::move(job), sizeof(lease_job));
}

store_stats embedded_store::stats() const {
    const auto& c = state_->counters;
    const auto figure = [](const std::atomic<std::uint64_t>& counter) {
        return counter.load(std::memory_order_relaxed);
    };
    store_stats s;
    s.entries = static_cast<std::uint64_t>(std::max<std::int64_t>(c.entries.load(std::memory_order_relaxed), 0));
    s.bytes = figure(c.bytes);
    s.capacity = state_->options.size;
    s.evictions = figure(c.evictions);
    s.expired = figure(c.expired);
    s.stored = figure(c.stored);
    s.lost = figure(c.lost);
    s.refused = figure(c.refused);
    s.failed_reads = figure(c.failed_reads);
    s.failed_writes = figure(c.failed_writes);
    s.timeouts = figure(c.timeouts);
    s.state = state_->condition.text();
    s.healthy = state_->condition.writable();
    for (const auto* b : {&state_->reads, &state_->writes}) {
        if (b->current() == breaker::state::closed || !s.healthy) continue;
        s.healthy = false;
        s.state = b == &state_->reads ? "reading is too slow: breaker open" : "writing is too slow: breaker open";
    }
    return s;
}

void embedded_store::close() noexcept {
    if (threads_.empty()) return;
    state_->lookups.close();
    state_->writer.close();
    std::unique_lock lock(state_->mutex);
    const bool all =
        state_->ended.wait_for(lock, state_->options.close_within, [this] { return state_->running == 0; });
    lock.unlock();
    if (!all) state_->condition.say("the disk does not answer: closing without waiting any longer");
    state_->condition.mute();
    for (auto& thread : threads_) all ? thread.join() : thread.detach();
    threads_.clear();
}

}  // namespace

std::unique_ptr<store> open_embedded(embedded_options options, std::string& error) {
    // Memory statistics put one lock round every allocation of every connection. Refused, harmlessly, once SQLite runs.
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (options.path.empty()) {
        error = "embedded store: no path";
        return nullptr;
    }
    if (options.size < smallest) {
        error = "embedded store: size below 1 MiB";
        return nullptr;
    }
    if (const auto network = network_file_system_at(options.path); !network.empty()) {
        error = "embedded store: " + options.path + " is on a network file system (" + std::string(network) +
                "); choose a local directory, or the store redis";
        return nullptr;
    }
    if (options.readers == 0) options.readers = 1;
    return std::make_unique<embedded_store>(std::move(options));
}

}  // namespace idem::cache
