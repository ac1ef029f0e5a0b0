#pragma once
// Owner of coroutines: everything that is spawned is joined. One thread: spawn, cancel and join are called on the
// thread of the executor, and cancel only while its context runs (Asio 1.26 dispatches the cancellation). Must be empty
// when it is destroyed, or its context must not run any more.
#include <boost/asio/cancellation_signal.hpp>
#include <exception>
#include <functional>
#include <list>

#include "upstream/net/event.hpp"
#include "upstream/net/net.hpp"

namespace idem::upstream::net {

class task_group {
public:
    /// Receives each exception that escapes a task, but not the operation_aborted of one that was cancelled.
    using failure_handler = std::function<void(std::exception_ptr)>;
    task_group(executor on, failure_handler on_failure);
    ~task_group();
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;

    /// Runs until its first suspension inside this call when on the thread of the executor.
    void spawn(task<void> work);
    [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }
    /// Terminal cancellation of all members: their pending operation ends with operation_aborted and their next await
    /// throws. Tasks spawned later are not cancelled.
    void cancel() noexcept;
    /// Until no member is left (true) or `limit` (false).
    [[nodiscard]] task<bool> join(time_point limit = time_point::max());

private:
    struct member {
        asio::cancellation_signal signal;
        bool cancelled = false;
    };
    using position = std::list<member>::iterator;
    void ended(position at, std::exception_ptr escaped);

    executor on_;
    failure_handler on_failure_;
    std::list<member> members_;
    event emptied_;
};

}  // namespace idem::upstream::net
