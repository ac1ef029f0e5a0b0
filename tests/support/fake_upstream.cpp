#include "tests/support/fake_upstream.hpp"

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace idem::test {
namespace {

using namespace std::chrono_literals;

int listen_on_loopback(std::uint16_t& port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (fd < 0 || ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(fd, 512) != 0 ||
        ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        throw std::runtime_error("cannot listen on loopback");
    }
    port = ntohs(address.sin_port);
    return fd;
}

/// One accepted connection, with blocking reads and writes.
struct wire {
    int fd = -1;
    SSL* tls = nullptr;

    bool write(std::string_view bytes) const {
        while (!bytes.empty()) {
            const ssize_t n = tls != nullptr ? SSL_write(tls, bytes.data(), static_cast<int>(bytes.size()))
                                             : ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (n <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(n));
        }
        return true;
    }
    bool read(std::string& into) const {
        char buffer[16384];
        const ssize_t n = tls != nullptr ? SSL_read(tls, buffer, sizeof buffer) : ::recv(fd, buffer, sizeof buffer, 0);
        if (n <= 0) return false;
        into.append(buffer, static_cast<std::size_t>(n));
        return true;
    }
    void end(reply::ending how) {
        if (how == reply::ending::rst) {
            const linger reset{1, 0};
            ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        } else if (tls != nullptr && how == reply::ending::fin) {
            SSL_shutdown(tls);
        }
    }
};

std::size_t declared_length(const std::string& head) {
    for (std::size_t at = head.find("\r\n"); at + 2 < head.size(); at = head.find("\r\n", at + 2)) {
        if (::strncasecmp(head.c_str() + at + 2, "content-length:", 15) == 0) return std::stoul(head.substr(at + 17));
    }
    return 0;
}

}  // namespace

struct fake_upstream::impl {
    answer how;
    fake_upstream_options options;
    std::uint16_t port = 0;
    int listener = -1;
    SSL_CTX* context = nullptr;
    std::thread acceptor;

    mutable std::mutex guard;
    mutable std::condition_variable changed;
    struct link {
        wire on;
        bool open = true;
        std::thread runner;
    };
    std::list<link> links;
    std::vector<received_request> requests;
    std::size_t ended = 0;

    void accept_all() {
        for (;;) {
            const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
            if (fd < 0) return;
            const std::lock_guard lock(guard);
            link& l = links.emplace_back();
            l.on.fd = fd;
            l.runner = std::thread([this, &l, index = links.size() - 1] {
                serve(l.on, index);
                const std::lock_guard closing(guard);
                if (l.on.tls != nullptr) SSL_free(l.on.tls);
                ::close(l.on.fd);
                l.open = false;
                ++ended;
                changed.notify_all();
            });
        }
    }

    void serve(wire& on, std::size_t index) {
        if (context != nullptr) {
            on.tls = SSL_new(context);
            SSL_set_fd(on.tls, on.fd);
            if (SSL_accept(on.tls) != 1) return;
        }
        std::string input;
        for (std::size_t number = 0;; ++number) {
            received_request request{index, number, {}, {}};
            if (!(options.speak_first && number == 0) && !read_request(on, input, request)) return;
            reply r;
            {
                const std::lock_guard lock(guard);
                requests.push_back(request);
                r = how(request);
            }
            changed.notify_all();
            const bool written = on.write(r.bytes);
            if (r.then == reply::ending::keep && written) continue;
            if (r.then == reply::ending::hang) {
                while (on.read(input)) input.clear();
            }
            on.end(r.then);
            return;
        }
    }

    static bool read_request(const wire& on, std::string& input, received_request& request) {
        std::size_t end = 0;
        while ((end = input.find("\r\n\r\n")) == std::string::npos) {
            if (!on.read(input)) return false;
        }
        request.head = input.substr(0, end + 4);
        input.erase(0, end + 4);
        if (request.head.find("Transfer-Encoding: chunked") != std::string::npos) {
            while ((end = input.find("0\r\n\r\n")) == std::string::npos) {
                if (!on.read(input)) return false;
            }
            end += 5;
        } else {
            end = declared_length(request.head);
            while (input.size() < end) {
                if (!on.read(input)) return false;
            }
        }
        request.body = input.substr(0, end);
        input.erase(0, end);
        return true;
    }

    void make_context() {
        context = SSL_CTX_new(TLS_server_method());
        if (SSL_CTX_use_certificate_chain_file(context, options.certificate_file.c_str()) != 1 ||
            SSL_CTX_use_PrivateKey_file(context, options.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
            throw std::runtime_error("cannot use the test certificate");
        }
        if (!options.client_ca_file.empty()) {
            SSL_CTX_load_verify_file(context, options.client_ca_file.c_str());
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
        }
    }

    template <class Predicate>
    bool wait_for(Predicate done) const {
        std::unique_lock lock(guard);
        return changed.wait_for(lock, 5s, done);
    }
};

fake_upstream::fake_upstream(answer how, fake_upstream_options options) : impl_(std::make_unique<impl>()) {
    ::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
    impl_->how = std::move(how);
    impl_->options = std::move(options);
    if (!impl_->options.certificate_file.empty()) impl_->make_context();
    impl_->listener = listen_on_loopback(impl_->port);
    impl_->acceptor = std::thread([this] { impl_->accept_all(); });
}

fake_upstream::~fake_upstream() {
    ::shutdown(impl_->listener, SHUT_RDWR);
    impl_->acceptor.join();
    ::close(impl_->listener);
    {
        const std::lock_guard lock(impl_->guard);
        for (const impl::link& l : impl_->links) {
            if (l.open) ::shutdown(l.on.fd, SHUT_RDWR);
        }
    }
    for (impl::link& l : impl_->links) l.runner.join();
    if (impl_->context != nullptr) SSL_CTX_free(impl_->context);
}

std::uint16_t fake_upstream::port() const noexcept {
    return impl_->port;
}

std::string fake_upstream::url() const {
    return (impl_->context != nullptr ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(impl_->port);
}

std::size_t fake_upstream::connections() const noexcept {
    const std::lock_guard lock(impl_->guard);
    return impl_->links.size();
}

std::vector<received_request> fake_upstream::requests() const {
    const std::lock_guard lock(impl_->guard);
    return impl_->requests;
}

std::size_t fake_upstream::ended() const noexcept {
    const std::lock_guard lock(impl_->guard);
    return impl_->ended;
}

bool fake_upstream::wait_for_ended(std::size_t count) const {
    return impl_->wait_for([&] { return impl_->ended >= count; });
}

bool fake_upstream::wait_for_requests(std::size_t count) const {
    return impl_->wait_for([&] { return impl_->requests.size() >= count; });
}

std::uint16_t closed_port() {
    std::uint16_t port = 0;
    ::close(listen_on_loopback(port));
    return port;
}

}  // namespace idem::test
