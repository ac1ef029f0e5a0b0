#include "tests/support/redis_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace idem::test {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr const char* binary = "/usr/bin/redis-server";

// Asked of the kernel and given back at once.
[[nodiscard]] std::uint16_t free_port() {
    const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    if (::bind(s, reinterpret_cast<sockaddr*>(&at), size) != 0 ||
        ::getsockname(s, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
        throw std::runtime_error("no free port");
    }
    ::close(s);
    return ntohs(at.sin_port);
}

struct connection {
    explicit connection(std::uint16_t port) : fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(port);
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
    }
    ~connection() { ::close(fd); }
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    [[nodiscard]] std::string ask(std::string_view bytes, clock::time_point limit) const {
        while (!bytes.empty()) {
            const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (n <= 0) {
                return {};
            }
            bytes.remove_prefix(static_cast<std::size_t>(n));
        }
        std::string got;
        for (;;) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - clock::now()).count();
            pollfd p{fd, POLLIN, 0};
            if (left <= 0 || ::poll(&p, 1, static_cast<int>(left)) <= 0) {
                return {};
            }
            char buffer[4096];
            const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
            if (n <= 0) {
                return {};
            }
            got.append(buffer, static_cast<std::size_t>(n));
            if (const std::size_t size = resp_size(got)) {
                return got.substr(0, size);
            }
        }
    }

    int fd;
    bool connected;
};

}  // namespace

std::size_t resp_size(std::string_view bytes) {
    const std::size_t line = bytes.find("\r\n");
    if (line == std::string_view::npos) {
        return 0;
    }
    const std::size_t head = line + 2;
    if (bytes[0] != '$' && bytes[0] != '*') {
        return head;
    }
    const long long n = std::atoll(std::string(bytes.substr(1, line - 1)).c_str());
    if (n < 0) {
        return head;
    }
    if (bytes[0] == '$') {
        const std::size_t size = head + static_cast<std::size_t>(n) + 2;
        return bytes.size() >= size ? size : 0;
    }
    std::size_t size = head;
    for (long long i = 0; i < n; ++i) {
        const std::size_t element = size < bytes.size() ? resp_size(bytes.substr(size)) : 0;
        if (element == 0) {
            return 0;
        }
        size += element;
    }
    return size;
}

bool redis_server::available() {
    return ::access(binary, X_OK) == 0;
}

redis_server::redis_server(redis_server_options options) : options_(std::move(options)) {
    if (options_.tls) {
        certificates_.emplace();
    }
    // A free port may be taken by somebody else before the server has it.
    for (int attempts_left = 5;; --attempts_left) {
        port_ = free_port();
        tls_port_ = options_.tls ? free_port() : std::uint16_t{0};
        try {
            start();
            return;
        } catch (const std::runtime_error&) {
            if (attempts_left == 0) {
                throw;
            }
        }
    }
}

redis_server::~redis_server() {
    if (process_ > 0) {
        kill();
    }
}

void redis_server::start() {
    std::vector<std::string> words{binary,
                                   "--port",
                                   std::to_string(port_),
                                   "--bind",
                                   "127.0.0.1",
                                   "--save",
                                   "",
                                   "--appendonly",
                                   "no",
                                   "--dir",
                                   folder_.path().string(),
                                   "--daemonize",
                                   "no",
                                   "--loglevel",
                                   "warning",
                                   "--logfile",
                                   folder_.path().string() + "/log"};
    if (options_.unix_socket) {
        words.insert(words.end(), {"--unixsocket", socket_path()});
    }
    if (options_.tls) {
        words.insert(words.end(),
                     {"--tls-port", std::to_string(tls_port_), "--tls-cert-file", certificates_->server_certificate,
                      "--tls-key-file", certificates_->server_key, "--tls-ca-cert-file", certificates_->ca_file});
    }
    words.insert(words.end(), options_.arguments.begin(), options_.arguments.end());
    std::vector<char*> list;
    for (std::string& w : words) {
        list.push_back(w.data());
    }
    list.push_back(nullptr);
    const pid_t parent = ::getpid();
    process_ = ::fork();
    if (process_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that crashes leaves no server behind
        if (::getppid() != parent) {
            ::_exit(1);
        }
        ::execv(binary, list.data());
        ::_exit(127);
    }
    if (process_ < 0) {
        throw std::runtime_error("fork failed");
    }
    const auto limit = clock::now() + 10s;
    const std::string mine = "process_id:" + std::to_string(process_) + "\r";
    while (clock::now() < limit) {
        if (::waitpid(process_, nullptr, WNOHANG) == process_) {
            process_ = -1;
            throw std::runtime_error("redis-server ended at once");
        }
        const connection c(port_);
        const std::string said = c.connected ? c.ask("*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n", limit) : std::string();
        // With a password set it answers no more than that.
        if (said.find(mine) != std::string::npos || said.starts_with("-NOAUTH")) {
            return;
        }
        ::poll(nullptr, 0, 5);
    }
    kill();
    throw std::runtime_error("redis-server does not answer");
}

void redis_server::end(int signal) {
    ::kill(process_, signal);
    ::kill(process_, SIGCONT);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
}

void redis_server::kill() {
    end(SIGKILL);
}
void redis_server::stop() {
    end(SIGTERM);
}
void redis_server::pause() {
    ::kill(process_, SIGSTOP);
    // Delivered is not yet stopped: wait for the state, so that a test's next request meets a server that hangs.
    int status = 0;
    ::waitpid(process_, &status, WUNTRACED);
}
void redis_server::resume() {
    ::kill(process_, SIGCONT);
}

std::string redis_server::command(std::initializer_list<std::string_view> words) const {
    std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string_view w : words) {
        bytes += "$" + std::to_string(w.size()) + "\r\n" + std::string(w) + "\r\n";
    }
    const connection c(port_);
    std::string got = c.connected ? c.ask(bytes, clock::now() + 5s) : std::string{};
    if (got.empty()) {
        throw std::runtime_error("redis-server did not answer a test's command");
    }
    return got;
}

}  // namespace idem::test
