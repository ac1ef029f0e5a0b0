#include "gateway/observe/line_writer.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <limits>

namespace idem::gateway::observe {

namespace {

std::int64_t now_ns() {
    return std::chrono::steady_clock::now().time_since_epoch().count();
}

// After poll() a pipe takes at least this much without blocking (POSIX PIPE_BUF); files take any amount.
std::size_t chunk_of(int fd) {
    struct stat s{};
    const bool file = fstat(fd, &s) == 0 && (S_ISREG(s.st_mode) || (S_ISCHR(s.st_mode) && isatty(fd) == 0));
    return file ? std::numeric_limits<std::size_t>::max() : 4096;
}

}  // namespace

line_writer::line_writer(int fd, std::size_t cap_bytes)
    : fd_(fd), cap_(cap_bytes), chunk_(chunk_of(fd)), thread_([this] { run(); }) {}

line_writer::~line_writer() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        give_up_ns_ = now_ns() + 1'000'000'000;
    }
    wake_.notify_one();
    thread_.join();
}

void line_writer::take(std::string& text, std::uint64_t lines) {
    if (text.empty()) return;
    bool first = false;
    {
        const std::lock_guard lock(mutex_);
        if (queued_ + text.size() > cap_) {
            dropped_.fetch_add(lines, std::memory_order_relaxed);
            text.clear();
            return;
        }
        queued_ += text.size();
        first = queue_.empty();
        queue_.push_back({std::move(text), lines});
        text.clear();
        if (!spare_.empty()) {
            text = std::move(spare_.back());
            spare_.pop_back();
        }
    }
    if (first) wake_.notify_one();
}

void line_writer::run() {
    // A reader that went away must not end the process: EPIPE instead of SIGPIPE, on this thread alone.
    sigset_t pipe_signal;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);

    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        if (queue_.empty()) return;
        block b = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        if (!write_all(b.text)) dropped_.fetch_add(b.lines, std::memory_order_relaxed);
        const auto size = b.text.size();
        b.text.clear();
        lock.lock();
        queued_ -= size;  // counted until written, so that the cap bounds what is in memory
        if (spare_.size() < 64) spare_.push_back(std::move(b.text));
    }
}

bool line_writer::write_all(std::string_view text) {
    while (!text.empty()) {
        const auto limit = give_up_ns_.load();
        if (limit != 0 && now_ns() > limit) return false;
        pollfd p{fd_, POLLOUT, 0};
        const int ready = poll(&p, 1, 100);
        if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
        if (ready < 0) return false;
        const auto n = write(fd_, text.data(), std::min(chunk_, text.size()));
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

}  // namespace idem::gateway::observe
