#pragma once
// An I/O thread and stores on it, as the gateway has them.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cache/redis/redis_store.hpp"
#include "tests/support/fault_proxy.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/sample_entry.hpp"

namespace idem::test {

namespace net = upstream::net;

class io_thread {
public:
    io_thread() : guard_(context_.get_executor()), thread_([this] { context_.run(); }) {}
    ~io_thread() {
        guard_.reset();
        context_.stop();
        thread_.join();
    }
    io_thread(const io_thread&) = delete;
    io_thread& operator=(const io_thread&) = delete;

    [[nodiscard]] net::executor get_executor() { return context_.get_executor(); }
    template <class T>
    [[nodiscard]] std::future<T> start(net::task<T> work) {
        return boost::asio::co_spawn(context_, std::move(work), boost::asio::use_future);
    }
    template <class T>
    T run(net::task<T> work) {
        return start(std::move(work)).get();
    }

private:
    boost::asio::io_context context_{1};
    boost::asio::executor_work_guard<net::executor> guard_;
    std::thread thread_;
};

/// For tests that are not about deadlines: a busy machine must not look like a dead Redis.
[[nodiscard]] inline cache::redis_options patient() {
    cache::redis_options o;
    o.deadline = std::chrono::seconds(5);
    o.total = std::chrono::seconds(10);
    return o;
}

/// How late this machine lets a thread run that wanted to run: the slack that a test about time has to grant.
class stall_meter {
public:
    stall_meter()
        : thread_([this] {
              while (!ended_) {
                  const auto due = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
                  std::this_thread::sleep_until(due);
                  const auto late =
                      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - due);
                  worst_ = std::max(worst_.load(), late.count());
              }
          }) {}
    ~stall_meter() {
        ended_ = true;
        thread_.join();
    }
    stall_meter(const stall_meter&) = delete;
    stall_meter& operator=(const stall_meter&) = delete;
    /// Several threads and processes have to run, one after the other, for one answer.
    [[nodiscard]] std::chrono::milliseconds slack() const { return std::chrono::milliseconds(20 + 4 * worst_.load()); }

private:
    std::atomic<bool> ended_{false};
    std::atomic<std::int64_t> worst_{0};
    std::thread thread_;
};

/// A store and an I/O thread to call it from. Log lines are kept.
struct gateway {
    explicit gateway(const std::string& url, cache::redis_options options = patient()) {
        std::string error;
        const auto at = cache::redis::parse_address(url, error);
        REQUIRE_MESSAGE(at, error);
        options.at = *at;
        options.log = [this](std::string_view line) {
            const std::scoped_lock lock(mutex);
            lines.emplace_back(line);
        };
        store = cache::make_redis(std::move(options), error);
        REQUIRE_MESSAGE(store, error);
    }
    ~gateway() { store->close(); }
    gateway(const gateway&) = delete;
    gateway& operator=(const gateway&) = delete;

    cache::lookup find(std::string_view name, cache::unix_ms now = 2000) {
        return io.run(store->find(sample_key(name), now));
    }
    cache::put_result put(cache::entry_ptr e, cache::unix_ms now = 2000, id128 replaces = {}) {
        return io.run(store->put(std::move(e), replaces, now));
    }
    cache::erase_status erase(std::string_view name) { return io.run(store->erase(sample_key(name))); }
    cache::bind_result bind(cache::binding wanted, cache::unix_ms now) { return io.run(store->bind(wanted, now)); }
    cache::record_result read(std::string name) { return io.run(store->read_record(std::move(name))); }
    cache::record_result write(std::string name, std::string value, std::uint64_t expected) {
        return io.run(store->write_record(std::move(name), std::move(value), expected));
    }
    cache::lease_result lease(std::string name, id128 holder, std::chrono::milliseconds length) {
        return io.run(store->lease(std::move(name), holder, length));
    }
    cache::lease_result release(std::string name, id128 holder, bool settled = true) {
        return io.run(store->release(std::move(name), holder, settled));
    }
    [[nodiscard]] std::uint64_t faults(std::string_view kind) const {
        for (const auto& [name, n] : store->stats().faults) {
            if (name == kind) {
                return n;
            }
        }
        return 0;
    }
    [[nodiscard]] bool said(std::string_view words) {
        const std::scoped_lock lock(mutex);
        return std::ranges::any_of(lines, [&](const std::string& l) { return l.find(words) != std::string::npos; });
    }

    io_thread io;
    std::mutex mutex;
    std::vector<std::string> lines;
    std::unique_ptr<cache::store> store;
};

/// Asks again until it is so, at most `limit`.
template <class Predicate>
[[nodiscard]] bool eventually(Predicate p, std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!p()) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

[[nodiscard]] inline std::string name_of(std::string_view name) {
    return "idem:{" + to_hex(sample_key(name).value.bytes) + "}:e";
}

/// The body of an answer; of no answer, a text that no test expects.
[[nodiscard]] inline std::string body_of(const cache::entry_ptr& e) {
    return e ? e->body : "(no entry)";
}

/// True, with a message, where there is no redis-server: the test has nothing to run.
[[nodiscard]] inline bool skipped() {
    if (redis_server::available()) {
        return false;
    }
    MESSAGE("SKIPPED: no redis-server");
    return true;
}

}  // namespace idem::test
