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
#include <filesystem>
#include <stdexcept>

namespace idem::test {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr const char* binary = "/usr/bin/redis-server";

// Asked of the kernel and given back at once: another process could take it in between, so tests that start servers in
// parallel retry through start()'s own deadline error.
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

void shell(const std::string& line) {
    if (std::system(line.c_str()) != 0) {
        throw std::runtime_error("failed: " + line);
    }
}

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
    char name[] = "/tmp/idem-redis-XXXXXX";
    if (::mkdtemp(name) == nullptr) {
        throw std::runtime_error("no temporary folder");
    }
    folder_ = name;
    port_ = free_port();
    if (options_.tls) {
        tls_port_ = free_port();
        make_certificates();
    }
    start();
}

redis_server::~redis_server() {
    if (process_ > 0) {
        kill();
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

void redis_server::start() {
    std::vector<std::string> words{
        binary,  "--port", std::to_string(port_), "--bind", "127.0.0.1",  "--save",  "",          "--appendonly",  "no",
        "--dir", folder_,  "--daemonize",         "no",     "--loglevel", "warning", "--logfile", folder_ + "/log"};
    if (options_.unix_socket) {
        words.insert(words.end(), {"--unixsocket", socket_path()});
    }
    if (options_.tls) {
        words.insert(words.end(), {"--tls-port", std::to_string(tls_port_), "--tls-cert-file", file("server.crt"),
                                   "--tls-key-file", file("server.key"), "--tls-ca-cert-file", file("ca.crt")});
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
    while (clock::now() < limit) {
        const connection c(port_);
        if (c.connected && !c.ask("*1\r\n$4\r\nPING\r\n", limit).empty()) {
            return;
        }
        ::poll(nullptr, 0, 5);
    }
    kill();
    throw std::runtime_error("redis-server does not answer; see " + folder_ + "/log");
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

void redis_server::make_certificates() const {
    const std::string at = "cd " + folder_ + " && ";
    const std::string quiet = " 2>/dev/null";
    const std::string key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes ";
    shell(at + "openssl req -x509 " + key + "-keyout ca.key -out ca.crt -days 2 -subj /CN=idem-test-ca" + quiet);
    for (const std::string name : {"server", "client"}) {
        shell(at + "openssl req " + key + "-keyout " + name + ".key -out " + name + ".csr -subj /CN=" + name + quiet);
        shell(at + "printf 'subjectAltName=DNS:localhost' > san && openssl x509 -req -in " + name +
              ".csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile san -out " + name + ".crt" + quiet);
    }
}

}  // namespace idem::test
