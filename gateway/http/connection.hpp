#pragma once
// What the sessions of one server share, and what the server needs to know of a session. One thread, except for the
// counters, which any thread may read.
#include <atomic>
#include <boost/intrusive/list.hpp>
#include <memory>

#include "gateway/http/answer_head.hpp"
#include "gateway/http/server.hpp"
#include "upstream/net/deadline.hpp"

namespace idem::gateway::http {

/// Written by the server's thread alone, so no locked instruction is needed.
class tally {
public:
    void add(std::uint64_t n = 1) noexcept { value_.store(get() + n, std::memory_order_relaxed); }
    void remove(std::uint64_t n = 1) noexcept { value_.store(get() - n, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

/// An open connection as the server sees it. Leaves its list when it is destroyed.
class connection : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    /// Closes if it waits for a request, else after the answer under way. A connection that has asked nothing yet is
    /// given its time, but for `all`.
    virtual void drain(bool all) noexcept = 0;
    /// Closes now, without a clean end.
    virtual void abort() noexcept = 0;

protected:
    ~connection() = default;
};

/// Lives as long as the server or any of its sessions.
struct server_state {
    server_state(net::executor executor, handler& h, server_limits l)
        : on(executor), handle(h), limits(l), fields(l.keep_alive), deadlines(net::deadlines_of(executor)) {}

    net::executor on;
    handler& handle;
    server_limits limits;
    head_fields fields;
    net::deadline_queue& deadlines;
    bool draining = false;
    tally accepted, open, refused, timed_out, tls_failures;
    boost::intrusive::list<connection, boost::intrusive::constant_time_size<false>> connections;
};

/// The status that the server answers a refusal with.
[[nodiscard]] unsigned status_of(reason why) noexcept;

}  // namespace idem::gateway::http
