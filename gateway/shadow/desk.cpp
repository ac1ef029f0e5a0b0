#include "gateway/shadow/desk.hpp"

namespace idem::gateway::shadow {

desk::desk(std::size_t upstreams) {
    for (std::size_t i = 0; i < upstreams; ++i) queues_.push_back(std::make_unique<queue>());
}

void desk::offer(job j) {
    queue& q = *queues_[j.order->route->upstream->index];
    const std::size_t size = j.order->body.size();
    const std::lock_guard lock(q.mutex);
    if (q.closed) return;
    if (q.jobs.size() >= most_jobs || q.bytes + size > most_bytes) {
        q.dropped.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    q.bytes += size;
    q.jobs.push_back(std::move(j));
}

std::optional<job> desk::take(std::size_t upstream) {
    queue& q = *queues_[upstream];
    const std::lock_guard lock(q.mutex);
    if (q.jobs.empty()) return std::nullopt;
    job j = std::move(q.jobs.front());
    q.jobs.pop_front();
    q.bytes -= j.order->body.size();
    return j;
}

void desk::forget(std::size_t upstream, upstream::net::time_point t) {
    queue& q = *queues_[upstream];
    const std::lock_guard lock(q.mutex);
    // In the order in which they were taken, but for moments between threads.
    while (!q.jobs.empty() && q.jobs.front().taken < t) {
        q.bytes -= q.jobs.front().order->body.size();
        q.jobs.pop_front();
        q.dropped.fetch_add(1, std::memory_order_relaxed);
    }
}

void desk::close() {
    for (auto& q : queues_) {
        std::deque<job> gone;  // destroyed behind the lock
        const std::lock_guard lock(q->mutex);
        q->closed = true;
        gone.swap(q->jobs);
        q->bytes = 0;
    }
}

}  // namespace idem::gateway::shadow
