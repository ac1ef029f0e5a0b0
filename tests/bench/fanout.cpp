// Follower lag: how long after the upstream sent a chunk of a stream each of N followers of that one stream has it.
//   bench_fanout writer PORT UPSTREAM_PORT N     a bare relay: reads one stream of the upstream, writes each piece to N
//   sockets in a loop bench_fanout measure PORT UPSTREAM_PORT N [EVENTS]   plays the upstream on UPSTREAM_PORT and N
//   identical clients of PORT; prints JSON
// The upstream holds its timed events back until every client has the first one, then sends one each 25 ms with the
// time of the monotonic clock inside; a client's lag is the time it reads the event minus that. Writer and gateway are
// measured alike, so what both add (one hop, the client's own reading) cancels out.
#include <sys/timerfd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tests/bench/wire.hpp"

namespace {

using namespace bench;

constexpr std::int64_t interval_ns = 25'000'000;

std::string chunk(std::string_view data) {
    std::string text = "data: ";
    text.append(data).append("\n\n");
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", text.size());
    return size + text + "\r\n";
}

std::string delta(const std::string& content, const char* finish) {
    return R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"bench","choices":[{"index":0,"delta":{"content":")" +
           content + R"("},"finish_reason":)" + finish + "}]}";
}

const char* const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

void write_all(int fd, std::string_view bytes) {
    if (write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) fail("write");
}

std::string request(bool with_body) {
    const std::string body = with_body ? R"({"model":"bench","messages":[{"role":"user","content":"fan out )" +
                                             std::to_string(now_ns()) + R"("}],"stream":true})"
                                       : "{}";
    return "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAuthorization: "
           "Bearer bench-key"
           "\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
}

// The bare write loop, with the chunk framing relayed as it is. A follower is a connection that has sent its request.
int run_writer(std::uint16_t port, std::uint16_t upstream_port, std::size_t followers) {
    const int listener = listen_on(port);
    const int poll = epoll_create1(EPOLL_CLOEXEC);
    watch(poll, listener, EPOLLIN, static_cast<std::uint64_t>(listener));
    std::vector<int> sockets;
    int upstream = -1;
    char buffer[65536];
    for (;;) {
        epoll_event event;
        if (epoll_wait(poll, &event, 1, 60'000) <= 0) return 1;
        const int fd = static_cast<int>(event.data.u64);
        if (fd == listener) {
            for (int c = accept_from(listener); c >= 0; c = accept_from(listener)) {
                watch(poll, c, EPOLLIN, static_cast<std::uint64_t>(c));
            }
            continue;
        }
        const ssize_t n = read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EAGAIN) continue;
        if (fd == upstream) {
            if (n <= 0) return 0;
            for (const int socket : sockets) write_all(socket, {buffer, static_cast<std::size_t>(n)});
            continue;
        }
        epoll_ctl(poll, EPOLL_CTL_DEL, fd, nullptr);
        if (n <= 0) {
            close(fd);
            continue;
        }
        sockets.push_back(fd);
        if (sockets.size() == followers) {
            upstream = connect_to(upstream_port);
            watch(poll, upstream, EPOLLIN, static_cast<std::uint64_t>(upstream));
            write_all(upstream, request(false));
        }
    }
}

struct follower {
    int fd = -1;
    response_reader answer;
    std::string tail;  // bytes of an event that is not whole yet
    bool first = false, ended = false;
};

class measurement {
public:
    measurement(std::uint16_t port, std::uint16_t upstream_port, std::size_t followers, std::size_t events)
        : followers_(followers),
          events_(events),
          listener_(listen_on(upstream_port)),
          poll_(epoll_create1(EPOLL_CLOEXEC)),
          timer_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK)) {
        watch(poll_, listener_, EPOLLIN, listener_tag);
        watch(poll_, timer_, EPOLLIN, timer_tag);
        lags_.reserve(followers * events);
        const std::string text = request(true);
        for (std::size_t i = 0; i < followers_.size(); ++i) {
            followers_[i].fd = connect_to(port);
            watch(poll_, followers_[i].fd, EPOLLIN, i);
            write_all(followers_[i].fd, text);
            serve(0);  // the accept queue of a busy server is finite
        }
    }

    void run() {
        const std::int64_t limit = now_ns() + 60'000'000'000;
        while (ended_ < followers_.size()) {
            serve(1000);
            if (now_ns() > limit) {
                std::fprintf(stderr, "bench_fanout: only %zu of %zu streams ended in 60 s (%zu have begun)\n", ended_,
                             followers_.size(), firsts_);
                std::exit(1);
            }
        }
    }

    void print() {
        std::sort(lags_.begin(), lags_.end());
        const auto at = [this](double share) {
            return lags_.empty() ? 0.0
                                 : static_cast<double>(
                                       lags_[static_cast<std::size_t>(static_cast<double>(lags_.size() - 1) * share)]) /
                                       1e6;
        };
        std::size_t different = 0;
        for (const follower& f : followers_) {
            different += f.answer.body_hash != followers_[0].answer.body_hash ||
                                 f.answer.body_bytes != followers_[0].answer.body_bytes
                             ? 1
                             : 0;
        }
        std::printf(
            "{\"followers\":%zu,\"events\":%zu,\"lags\":%zu,\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"max_ms\":%.3f,\"upstream_"
            "calls\":%zu,"
            "\"different\":%zu}\n",
            followers_.size(), events_, lags_.size(), at(0.5), at(0.99), at(1.0), calls_, different);
    }

private:
    static constexpr std::uint64_t listener_tag = 1ULL << 40, timer_tag = 1ULL << 41, upstream_tag = 1ULL << 42;

    std::vector<follower> followers_;
    std::size_t events_, sent_ = 0, firsts_ = 0, ended_ = 0, calls_ = 0;
    int listener_, poll_, timer_, upstream_ = -1;
    std::vector<std::int64_t> lags_;

    void serve(int wait_ms) {
        epoll_event ready[1024];
        const int n = epoll_wait(poll_, ready, 1024, wait_ms);
        for (int i = 0; i < n; ++i) {
            const std::uint64_t tag = ready[i].data.u64;
            if (tag == listener_tag) {
                accept_upstream();
            } else if (tag == timer_tag) {
                send_event();
            } else if (tag & upstream_tag) {
                answer_call(static_cast<int>(tag & 0xffffffff));
            } else {
                receive(followers_[tag]);
            }
        }
    }

    void accept_upstream() {
        for (int fd = accept_from(listener_); fd >= 0; fd = accept_from(listener_)) {
            watch(poll_, fd, EPOLLIN, upstream_tag | static_cast<std::uint64_t>(fd));
        }
    }

    void answer_call(int fd) {
        char buffer[65536];
        const ssize_t n = read(fd, buffer, sizeof buffer);
        if (n <= 0) {
            if (n == 0 || errno != EAGAIN) close(fd);
            return;
        }
        if (std::string_view(buffer, static_cast<std::size_t>(n)).starts_with("POST ")) {
            ++calls_;
            upstream_ = fd;
            write_all(fd, head + chunk(delta("first", "null")));
        }
    }

    void start_timer() const {
        itimerspec each{};
        each.it_value.tv_nsec = each.it_interval.tv_nsec = interval_ns;
        timerfd_settime(timer_, 0, &each, nullptr);
    }

    void send_event() {
        std::uint64_t ticks = 0;
        if (read(timer_, &ticks, sizeof ticks) < 0) return;
        if (sent_ < events_) {
            ++sent_;
            write_all(upstream_, chunk(delta("T" + std::to_string(now_ns()) + ";", "null")));
        } else if (sent_++ == events_) {
            write_all(upstream_, chunk(delta("", "\"stop\"")) + chunk("[DONE]") + "0\r\n\r\n");
        }
    }

    void receive(follower& f) {
        char buffer[16384];
        const ssize_t n = read(f.fd, buffer, sizeof buffer);
        if (n < 0 && errno == EAGAIN) return;
        if (n <= 0 || f.ended) {
            if (!f.ended) fail("bench_fanout: a stream ended early");
            epoll_ctl(poll_, EPOLL_CTL_DEL, f.fd, nullptr);
            return;
        }
        const std::int64_t now = now_ns();
        f.answer.sink = &f.tail;
        f.answer.feed({buffer, static_cast<std::size_t>(n)});
        if (f.answer.broken || (f.answer.status != 0 && f.answer.status != 200))
            fail("bench_fanout: not a good answer");
        if (!f.first && f.answer.first_body_byte) {
            f.first = true;
            if (++firsts_ == followers_.size()) start_timer();
        }
        std::size_t whole = 0;
        for (std::size_t end = f.tail.find("\n\n"); end != std::string::npos; end = f.tail.find("\n\n", whole)) {
            const std::string_view event(f.tail.data() + whole, end - whole);
            if (const std::size_t stamp = event.find("\"content\":\"T"); stamp != std::string_view::npos) {
                lags_.push_back(now - std::strtoll(event.data() + stamp + 12, nullptr, 10));
            }
            whole = end + 2;
        }
        f.tail.erase(0, whole);
        if (f.answer.done) {
            f.ended = true;
            ++ended_;
        }
    }
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) {
        std::fprintf(stderr, "usage: bench_fanout writer|measure PORT UPSTREAM_PORT FOLLOWERS [EVENTS]\n");
        return 2;
    }
    raise_file_limit();
    const std::string mode = argv[1];
    const auto number = [argv](int i) { return std::strtoul(argv[i], nullptr, 10); };
    const auto port = static_cast<std::uint16_t>(number(2));
    const auto upstream_port = static_cast<std::uint16_t>(number(3));
    if (mode == "writer") return run_writer(port, upstream_port, number(4));
    measurement m(port, upstream_port, number(4), argc > 5 ? number(5) : 60);
    m.run();
    m.print();
}
