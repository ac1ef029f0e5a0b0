#pragma once
// One connection to a replica: in use by one exchange, or idle in the pool. One thread.
#include <memory>
#include <string>
#include <vector>

#include "upstream/client/pool.hpp"
#include "upstream/http/message.hpp"
#include "upstream/net/deadline.hpp"
#include "upstream/net/read_buffer.hpp"
#include "upstream/net/stream.hpp"

namespace idem::upstream::client {

/// What one read may take: 16 KiB, and 64 KiB once a read has filled that. Never more is unread than the larger.
inline constexpr std::size_t small_read = 16 * 1024;
inline constexpr std::size_t large_read = 64 * 1024;

/// Where the next read goes; empty if a whole large block is unread.
[[nodiscard]] net::asio::mutable_buffer room_in(net::read_buffer& in);

/// Connections to one replica.
struct bucket;

struct connection {
    connection(pool::impl& pool, bucket& home);
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    pool::impl& owner;
    bucket& home;
    net::stream wire;
    http::response_parser parser;
    net::read_buffer in{small_read};
    std::string head;       // the request's, kept for its memory and for a replay
    net::deadline reading;  // bounds reads, and the idle time in the pool
    net::deadline writing;
    std::uint64_t generation;  // of the pool when it was opened
    net::time_point made = net::clock::now();
    bool idle = false;
};

struct bucket {
    explicit bucket(const target& t) : to(t) {}
    target to;
    std::size_t in_use = 0;
    std::vector<std::unique_ptr<connection>> idle;
};

struct pool::impl {
    impl(net::executor e, pool_limits l) : on(e), deadlines(net::deadlines_of(e)), limits(l) {}

    /// The most recently used idle connection on which the peer has neither spoken nor hung up; null if there is none.
    [[nodiscard]] std::unique_ptr<connection> take(bucket& from);
    [[nodiscard]] std::unique_ptr<connection> make(bucket& in);
    /// Ends a loan. Keeps the connection for at most `idle_for` if `reusable`.
    void give_back(std::unique_ptr<connection> c, bool reusable, net::duration idle_for) noexcept;
    [[nodiscard]] bucket& find(const target& to);
    void expire(connection& c) noexcept;
    void drain() noexcept;

    net::executor on;
    net::deadline_queue& deadlines;
    pool_limits limits;
    std::vector<std::unique_ptr<bucket>> buckets;
    std::size_t idle_count = 0;
    std::uint64_t generation = 0;
};

}  // namespace idem::upstream::client
