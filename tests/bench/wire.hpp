#pragma once
// What the benchmark programs share: non-blocking loopback sockets, a clock, and a reader of HTTP/1.1 responses that
// knows Content-Length and chunked framing. Errors end the program: a benchmark has nothing to recover.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

namespace bench {

[[noreturn]] inline void fail(const char* what) {
    std::fprintf(stderr, "%s: %s\n", what, std::strerror(errno));
    std::exit(1);
}

/// Nanoseconds of the monotonic clock, the same in every process of the machine.
inline std::int64_t now_ns() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

inline void raise_file_limit() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

inline void no_delay(int fd) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

inline sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a.sin_port = htons(port);
    return a;
}

inline int listen_on(std::uint16_t port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) fail("socket");
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const sockaddr_in a = loopback(port);
    if (bind(fd, reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0) fail("bind");
    if (listen(fd, 4096) != 0) fail("listen");
    return fd;
}

/// Connected when it returns, non-blocking from then on.
inline int connect_to(std::uint16_t port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) fail("socket");
    const sockaddr_in a = loopback(port);
    if (connect(fd, reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0) fail("connect");
    no_delay(fd);
    if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) fail("fcntl");
    return fd;
}

/// -1: nobody is waiting any more.
inline int accept_from(int listener) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) no_delay(fd);
    return fd;
}

inline void watch(int poll, int fd, std::uint32_t events, std::uint64_t data) {
    epoll_event e{};
    e.events = events;
    e.data.u64 = data;
    if (epoll_ctl(poll, EPOLL_CTL_ADD, fd, &e) != 0) fail("epoll_ctl");
}

/// The value of a field in a head, without surrounding blanks; empty if it is not there. `name` in lower case.
inline std::string_view field(std::string_view head, std::string_view name) {
    for (std::size_t at = head.find("\r\n"); at != std::string_view::npos && at + 2 < head.size();) {
        const std::size_t begin = at + 2;
        at = head.find("\r\n", begin);
        std::string_view line = head.substr(begin, at == std::string_view::npos ? at : at - begin);
        if (line.size() <= name.size() || line[name.size()] != ':') continue;
        bool same = true;
        for (std::size_t i = 0; i < name.size() && same; ++i) same = (line[i] | 0x20) == name[i];
        if (!same) continue;
        line.remove_prefix(name.size() + 1);
        while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
        return line;
    }
    return {};
}

/// Reads responses off one keep-alive connection. Feed it bytes; `done` says that one response is complete.
class response_reader {
public:
    int status = 0;
    std::uint64_t body_bytes = 0;
    std::uint64_t body_hash = 14695981039346656037ULL;  // FNV-1a of the decoded body
    std::string cache;                                  // X-Cache
    bool done = false, broken = false;
    bool first_body_byte = false;
    std::string* sink = nullptr;  // gets the decoded body too

    void reset() { *this = {}; }

    void feed(std::string_view bytes) {
        buffer_ += bytes;
        std::string_view rest = buffer_;
        while (!rest.empty() && !done && !broken) {
            const std::size_t before = rest.size();
            step(rest);
            if (rest.size() == before) break;
        }
        buffer_.erase(0, buffer_.size() - rest.size());
    }
    /// Bytes after the complete response: none belong there, since no request is pipelined.
    [[nodiscard]] bool surplus() const { return !buffer_.empty(); }

private:
    enum class part { head, body, chunk_size, chunk, chunk_end } at_ = part::head;
    std::uint64_t left_ = 0;
    std::string buffer_;

    void take(std::string_view& rest) {
        const std::string_view piece = rest.substr(0, left_);
        for (const char c : piece) body_hash = (body_hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
        if (sink != nullptr) sink->append(piece);
        body_bytes += piece.size();
        first_body_byte = first_body_byte || !piece.empty();
        left_ -= piece.size();
        rest.remove_prefix(piece.size());
    }

    void step(std::string_view& rest) {
        switch (at_) {
            case part::head: {
                const std::size_t end = rest.find("\r\n\r\n");
                if (end == std::string_view::npos) return;
                const std::string_view head = rest.substr(0, end + 2);
                rest.remove_prefix(end + 4);
                if (head.size() < 12) {
                    broken = true;
                    return;
                }
                status = std::atoi(head.data() + 9);
                cache = field(head, "x-cache");
                const std::string length(field(head, "content-length"));
                if (!length.empty()) {
                    left_ = std::strtoull(length.c_str(), nullptr, 10);
                    at_ = part::body;
                    done = left_ == 0;
                } else if (field(head, "transfer-encoding") == "chunked") {
                    at_ = part::chunk_size;
                } else {
                    broken = true;
                }
                return;
            }
            case part::body:
                take(rest);
                done = left_ == 0;
                return;
            case part::chunk_size: {
                const std::size_t end = rest.find("\r\n");
                if (end == std::string_view::npos) return;
                left_ = std::strtoull(std::string(rest.substr(0, end)).c_str(), nullptr, 16);
                if (left_ == 0) {  // the last chunk; trailers end with an empty line
                    const std::size_t last = rest.find("\r\n\r\n");
                    if (last == std::string_view::npos) return;
                    rest.remove_prefix(last + 4);
                    done = true;
                    return;
                }
                rest.remove_prefix(end + 2);
                at_ = part::chunk;
                return;
            }
            case part::chunk:
                take(rest);
                if (left_ == 0) at_ = part::chunk_end;
                return;
            case part::chunk_end:
                if (rest.size() < 2) return;
                rest.remove_prefix(2);
                at_ = part::chunk_size;
                return;
        }
    }
};

}  // namespace bench
