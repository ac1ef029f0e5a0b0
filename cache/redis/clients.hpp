#pragma once
// The clients of all I/O threads: made by the thread that first asks, ended by close(). See redis_store.hpp for who may
// call what, when.
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "cache/redis/client.hpp"

namespace idem::cache::redis {

class clients {
public:
    clients(client_settings settings, monitor& health);
    ~clients();
    clients(const clients&) = delete;
    clients& operator=(const clients&) = delete;

    /// The client of the calling thread's io_context; null after close(). No lock after the thread's first call.
    [[nodiscard]] client* of(const upstream::net::executor& on);
    /// Ends every client on its own thread and waits for that. Not from one of those threads.
    void close() noexcept;

private:
    const client_settings settings_;
    monitor& health_;
    const std::uint64_t id_;  // never used twice: what a thread remembers of an older object never fits a newer one
    std::atomic<bool> closed_{false};
    std::mutex mutex_;
    struct member {
        upstream::net::executor on;
        std::unique_ptr<client> made;
    };
    std::vector<member> members_;
};

}  // namespace idem::cache::redis
