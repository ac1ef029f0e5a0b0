#include "tests/component/gateway/http/harness.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <stdexcept>

namespace idem::tests {
namespace {

using http::body_framing;
constexpr std::string_view ok = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";

net::task<std::string> read_all(http::transaction& t, reason& why) {
    std::string body;
    for (;;) {
        const http::body_piece piece = co_await t.read_body();
        why = piece.why;
        if (piece.why != reason::none || piece.bytes.empty()) break;
        body.append(piece.bytes);
    }
    co_return body;
}

/// Answers with the body it got; 400 with the reason if it did not get it.
net::task<void> echo(path_handler& h, http::transaction& t) {
    reason why = reason::none;
    const std::string body = co_await read_all(t, why);
    h.note(t.head(), body);
    if (why != reason::none) {
        co_await t.send("HTTP/1.1 400 Bad Request\r\n", to_string(why));
    } else {
        co_await t.send(ok, body);
    }
}

net::task<void> stream(http::transaction& t, body_framing framing) {
    co_await t.begin(ok, framing, 11);
    co_await t.write("hello");
    co_await t.write("");
    co_await t.write(" world");
    co_await t.finish("X-Sum: 1\r\n");
}

net::task<void> begin_and_wait(path_handler& h, http::transaction& t) {
    co_await t.begin(ok, body_framing::chunked, 0);
    co_await h.woken.wait();
    co_await t.write("late");
    co_await t.finish();
}

net::task<void> wait_for_gone(path_handler& h, http::transaction& t) {
    t.watch_gone([&h] {
        ++h.gone_calls;
        h.woken.notify();
    });
    ++h.serving;
    co_await h.woken.wait(net::clock::now() + std::chrono::seconds(8));
    --h.serving;
    co_await t.send(ok, "after");
}

net::task<void> write_for_ever(path_handler& h, http::transaction& t) {
    co_await t.begin(ok, body_framing::chunked, 0);
    const std::string block(256 * 1024, 'x');
    net::error_code ec;
    while (!ec) {
        const net::error_code written = co_await t.write(block);
        ec = written;
    }
    ++h.write_errors;
}

net::task<void> tunnel(http::transaction& t) {
    co_await t.begin("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n", body_framing::none, 0);
    for (;;) {
        const http::body_piece piece = co_await t.read_raw();
        if (piece.bytes.empty()) break;
        const std::string copy(piece.bytes);
        co_await t.write_raw(copy);
    }
    co_await t.finish();
}

net::task<void> too_much(path_handler& h, http::transaction& t) {
    co_await t.begin(ok, body_framing::length, 3);
    const net::error_code ec = co_await t.write("four");
    if (ec) ++h.write_errors;
}

net::task<void> too_little(path_handler& h, http::transaction& t) {
    co_await t.begin(ok, body_framing::length, 30);
    co_await t.write("four");
    const net::error_code ec = co_await t.finish();
    if (ec) ++h.write_errors;
}

net::task<void> cut(http::transaction& t, bool explicitly) {
    co_await t.begin(ok, body_framing::chunked, 0);
    co_await t.write("part");
    if (explicitly) t.abort();
}

net::task<void> respond_early(http::transaction& t) {
    co_await t.send("HTTP/1.1 413 Content Too Large\r\n", "no");
}

net::task<void> close_after(http::transaction& t) {
    t.close_after();
    co_await t.send(ok, "bye");
}

net::task<void> fail() {
    co_await boost::asio::this_coro::executor;
    throw std::runtime_error("broken handler");
}

net::task<void> no_content(http::transaction& t) {
    co_await t.send("HTTP/1.1 204 No Content\r\n", "");
}

}  // namespace

bool path_handler::answer_at_once(const http::request_head& head, std::string_view body, const http::peer& client,
                                  net::time_point, http::quick_reply& out) {
    certificate = client.certificate;
    if (!head.target.starts_with("/quick")) return false;
    note(head, body);
    out.head.assign(ok);
    out.body = {"[", quick_body, "]"};
    out.token = 7;
    return true;
}

void path_handler::done(const http::quick_reply& reply, std::uint64_t bytes_in, std::uint64_t bytes_out,
                        net::error_code ec) {
    last_in = bytes_in;
    last_out = bytes_out;
    if (reply.token == 7) ++done_calls;
    if (ec) ++done_failures;
}

net::task<void> path_handler::serve(http::transaction& t) {
    const std::string_view path = t.head().target;
    if (path == "/stream") return stream(t, body_framing::chunked);
    if (path == "/counted") return stream(t, body_framing::length);
    if (path == "/begin") return begin_and_wait(*this, t);
    if (path == "/wait") return wait_for_gone(*this, t);
    if (path == "/flood") return write_for_ever(*this, t);
    if (path == "/tunnel") return tunnel(t);
    if (path == "/too-much") return too_much(*this, t);
    if (path == "/too-little") return too_little(*this, t);
    if (path == "/abort") return cut(t, true);
    if (path == "/unfinished") return cut(t, false);
    if (path == "/early") return respond_early(t);
    if (path == "/close") return close_after(t);
    if (path == "/throw") return fail();
    if (path == "/empty") return no_content(t);
    return echo(*this, t);
}

std::string path_handler::refused(const http::request_head& head, const http::peer&, unsigned status, reason why,
                                  std::string_view detail) {
    const std::lock_guard lock(mutex_);
    refusals_.push_back({status, why, head.method, std::string(detail)});
    return "{\"code\":\"" + std::string(to_string(why)) + "\"}";
}

void path_handler::note(const http::request_head& head, std::string_view body) {
    seen_request r{head.method, head.target, std::string(body), {}};
    for (const auto [name, value] : head.headers) r.fields.emplace_back(name, value);
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(r));
}

std::vector<seen_request> path_handler::requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
}

std::vector<refusal> path_handler::refusals() const {
    const std::lock_guard lock(mutex_);
    return refusals_;
}

running_server::running_server(http::server_limits limits, std::shared_ptr<boost::asio::ssl::context> tls) {
    const net::executor on = context_.get_executor();
    handler_ = std::make_unique<path_handler>(on);
    server_ = std::make_unique<http::server>(on, *handler_, limits);
    const std::string failed = server_->listen("127.0.0.1", 0, std::move(tls));
    if (!failed.empty()) throw std::runtime_error(failed);
    thread_ = std::thread([this] { context_.run(); });
}

running_server::~running_server() {
    boost::asio::post(context_, [this] {
        server_->stop_accepting();
        server_->stop();
        handler_->woken.notify();
    });
    thread_.join();
}

void running_server::on_thread(std::function<void()> work) {
    std::promise<void> done;
    boost::asio::post(context_, [&] {
        work();
        done.set_value();
    });
    done.get_future().wait();
}

raw_client::raw_client(std::uint16_t port, int receive_buffer) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer > 0) ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) close();
}

raw_client::~raw_client() {
    close();
}

void raw_client::close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
}

bool raw_client::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (n <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

void raw_client::shutdown_send() {
    ::shutdown(fd_, SHUT_WR);
}

bool raw_client::fill() {
    pollfd p{fd_, POLLIN, 0};
    if (::poll(&p, 1, 10000) <= 0) return false;
    char bytes[16 * 1024];
    const auto n = ::recv(fd_, bytes, sizeof bytes, 0);
    if (n <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(n));
    return true;
}

answer raw_client::read_answer(bool to_head, bool interim) {
    answer out;
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
        if (!fill()) return out;
    }
    const std::string head = buffer_.substr(0, end + 2);
    buffer_.erase(0, end + 4);
    out.status = static_cast<unsigned>(std::stoul(head.substr(9, 3)));
    for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
        const std::size_t eol = head.find("\r\n", at);
        const std::size_t colon = head.find(": ", at);
        std::string name = head.substr(at, colon - at);
        for (char& c : name) c = static_cast<char>(std::tolower(c));
        out.fields[name] = head.substr(colon + 2, eol - colon - 2);
        at = eol + 2;
    }
    if (out.status < 200 && out.status != 101) return interim ? out : read_answer(to_head);
    out.clean = true;
    if (to_head || out.status == 204 || out.status == 101) return out;
    if (const auto length = out.fields.find("content-length"); length != out.fields.end()) {
        const std::size_t n = std::stoul(length->second);
        while (buffer_.size() < n) {
            if (!fill()) {
                out.body = std::exchange(buffer_, {});
                out.clean = false;
                return out;
            }
        }
        out.body = buffer_.substr(0, n);
        buffer_.erase(0, n);
        return out;
    }
    if (out.fields.contains("transfer-encoding")) {
        for (;;) {
            std::size_t eol = 0;
            while ((eol = buffer_.find("\r\n")) == std::string::npos) {
                if (!fill()) {
                    out.clean = false;
                    return out;
                }
            }
            const std::size_t size = std::stoul(buffer_.substr(0, eol), nullptr, 16);
            if (size == 0) {
                while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
                    if (!fill()) {
                        out.clean = false;
                        return out;
                    }
                }
                out.trailers = buffer_.substr(eol + 2, end - eol);
                buffer_.erase(0, end + 4);
                return out;
            }
            while (buffer_.size() < eol + 2 + size + 2) {
                if (!fill()) {
                    out.clean = false;
                    return out;
                }
            }
            out.body += buffer_.substr(eol + 2, size);
            buffer_.erase(0, eol + 2 + size + 2);
        }
    }
    out.clean = read_to_end(out.body);
    return out;
}

bool raw_client::read_to_end(std::string& bytes) {
    for (;;) {
        bytes += std::exchange(buffer_, {});
        pollfd p{fd_, POLLIN, 0};
        if (::poll(&p, 1, 10000) <= 0) return false;
        char block[64 * 1024];
        const auto n = ::recv(fd_, block, sizeof block, 0);
        if (n < 0) return false;
        if (n == 0) return true;
        buffer_.append(block, static_cast<std::size_t>(n));
    }
}

bool eventually(const std::function<bool()>& holds) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!holds()) {
        if (std::chrono::steady_clock::now() > limit) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

}  // namespace idem::tests
