#pragma once
// One I/O thread's connections to Redis. Each is multiplexed: commands of many requests go out together, replies come
// back in order. The decisions are the session's (session.hpp); this is the loop that obeys.
//
// A connection that fails is made again in the background, and no request ever waits for that: while it is being
// retried ask() answers not_connected at once. Only the very first connection, or one that replaces a healthy one, is
// waited for, within the command's own deadline.
//
// Lives and dies on the thread of its executor; only make it elsewhere.
#include <memory>
#include <vector>

#include "cache/redis/monitor.hpp"
#include "cache/redis/session.hpp"
#include "upstream/net/dial.hpp"
#include "upstream/net/event.hpp"
#include "upstream/net/task_group.hpp"

namespace idem::cache::redis {

struct client_settings {
    upstream::net::peer at;
    session_settings session;
    std::uint32_t connections = 2;
};

class client {
public:
    struct answer {
        fault why = fault::none;
        reply value;
        std::uint64_t connection = 0;  // for distrust()
    };

    /// Both references outlive the client.
    client(upstream::net::executor on, const client_settings& settings, monitor& health);
    ~client();
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    /// Completes by `limit`, or earlier as the session's deadlines say. Destroying the waiting coroutine is safe: the
    /// reply will be read and dropped.
    [[nodiscard]] upstream::net::task<answer> ask(command what, upstream::net::time_point limit);
    /// The connection gave a reply that cannot be its command's: close it.
    void distrust(std::uint64_t connection);
    /// Ends all connections and waits for all callers and coroutines. Then the client may be destroyed. False:
    /// something (a name look-up in the operating system) had not ended by `limit`.
    [[nodiscard]] upstream::net::task<bool> stop(upstream::net::time_point limit);

private:
    struct waiter;
    struct connection;
    void open_connections();
    [[nodiscard]] connection* choose() noexcept;
    static upstream::net::task<> run(connection& c);
    static upstream::net::task<> run_session(connection& c);
    static upstream::net::task<> write_loop(connection& c);

    upstream::net::executor on_;
    const client_settings& settings_;
    monitor& health_;
    std::vector<std::unique_ptr<connection>> connections_;  // made at the first ask
    std::size_t callers_ = 0;
    bool stopping_ = false;
    upstream::net::event callers_gone_;
    upstream::net::task_group tasks_;
};

}  // namespace idem::cache::redis
