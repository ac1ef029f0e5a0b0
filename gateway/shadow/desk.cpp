#include "gateway/shadow/desk.hpp"

namespace idem::gateway::shadow {

namespace {

// A job keeps its answers in memory, whatever becomes of them in the memory tier.
std::size_t weight(const job& j) noexcept {
    const auto of = [](const cache::entry_ptr& e) { return e ? e->body.size() : 0; };
    return j.order->body.size() + of(j.stored) + of(j.again);
}

}  // namespace

desk::desk(std::size_t upstreams) {
    for (std::size_t i = 0; i < upstreams; ++i) queues_.push_back(std::make_unique<queue>());
}

bool desk::affords(std::size_t upstream, std::uint32_t per_minute, std::int64_t now) noexcept {
    queue& q = *queues_[upstream];
    if (!q.budget.take(now, per_minute)) return false;
    if (!q.full.load(std::memory_order_relaxed)) return true;
    q.dropped.fetch_add(1, std::memory_order_relaxed);
    return false;
}

void desk::offer(job j) {
    queue& q = *queues_[j.order->route->upstream->index];
    const std::size_t size = weight(j);
    const std::lock_guard lock(q.mutex);
    if (q.closed) return;
    if (q.jobs.size() >= most_jobs || q.bytes + size > most_bytes) {
        // One that would never fit says nothing about the next.
        if (!q.jobs.empty()) q.full.store(true, std::memory_order_relaxed);
        q.dropped.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    q.bytes += size;
    q.jobs.push_back(std::move(j));
    if (q.jobs.size() == most_jobs) q.full.store(true, std::memory_order_relaxed);
}

// The queue is locked, and not empty.
job desk::pop(queue& q) {
    job j = std::move(q.jobs.front());
    q.jobs.pop_front();
    q.bytes -= weight(j);
    q.full.store(false, std::memory_order_relaxed);
    return j;
}

std::optional<job> desk::take(std::size_t upstream) {
    queue& q = *queues_[upstream];
    const std::lock_guard lock(q.mutex);
    if (q.jobs.empty()) return std::nullopt;
    return pop(q);
}

void desk::forget(std::size_t upstream, upstream::net::time_point t) {
    queue& q = *queues_[upstream];
    std::vector<job> gone;  // destroyed behind the lock
    const std::lock_guard lock(q.mutex);
    // In the order in which they were taken, but for moments between threads.
    while (!q.jobs.empty() && q.jobs.front().taken < t) {
        gone.push_back(pop(q));
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
