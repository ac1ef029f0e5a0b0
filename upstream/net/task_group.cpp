#include "upstream/net/task_group.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/system/system_error.hpp>
#include <utility>

namespace idem::upstream::net {
namespace {

bool is_abort(const std::exception_ptr& escaped) {
    try {
        std::rethrow_exception(escaped);
    } catch (const boost::system::system_error& e) {
        return e.code() == asio::error::operation_aborted;
    } catch (...) {
        return false;
    }
}

}  // namespace

task_group::task_group(executor on, failure_handler on_failure)
    : on_(on), on_failure_(std::move(on_failure)), emptied_(on) {}

task_group::~task_group() = default;

void task_group::spawn(task<void> work) {
    members_.emplace_back();
    const position at = std::prev(members_.end());
    auto done = [this, at](std::exception_ptr escaped) { ended(at, std::move(escaped)); };
    asio::co_spawn(on_, std::move(work), asio::bind_cancellation_slot(at->signal.slot(), std::move(done)));
}

void task_group::ended(position at, std::exception_ptr escaped) {
    const bool cancelled = at->cancelled;
    members_.erase(at);
    if (escaped && !(cancelled && is_abort(escaped)) && on_failure_) on_failure_(std::move(escaped));
    if (members_.empty()) emptied_.notify();
}

void task_group::cancel() noexcept {
    // A cancelled member may end, and erase itself, inside emit().
    for (position at = members_.begin(); at != members_.end();) {
        const position here = at++;
        here->cancelled = true;
        here->signal.emit(asio::cancellation_type::terminal);
    }
}

task<bool> task_group::join(time_point limit) {
    while (!members_.empty()) {
        const bool notified = co_await emptied_.wait(limit);
        if (!notified && !members_.empty()) co_return false;
    }
    co_return true;
}

}  // namespace idem::upstream::net
