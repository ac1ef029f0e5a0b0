#include "tests/support/fault_proxy.hpp"

#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <cctype>
#include <deque>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "tests/support/redis_server.hpp"
#include "upstream/net/net.hpp"

namespace idem::test {

namespace net = upstream::net;
namespace asio = boost::asio;
using namespace std::chrono_literals;

struct fault_proxy::impl {
    struct piece {
        net::time_point when;
        std::string bytes;
    };
    struct link {
        explicit link(net::executor on) : client(on), server(on), wake(on) {}
        net::tcp_socket client, server;
        net::timer wake;
        std::string requests, replies;  // not yet a whole command or reply
        std::deque<std::string> verbs;
        std::deque<piece> outgoing;
        bool open = true;

        void close() {
            open = false;
            net::error_code ignored;
            client.set_option(asio::socket_base::linger(true, 0), ignored);  // a reset, not an orderly end
            client.close(ignored);
            server.close(ignored);
            wake.cancel();
        }
    };
    using link_ptr = std::shared_ptr<link>;

    explicit impl(std::uint16_t to)
        : target(to), acceptor(context.get_executor(), {asio::ip::address_v4::loopback(), 0}) {
        listening = acceptor.local_endpoint().port();
        asio::co_spawn(context, accept(), asio::detached);
        thread = std::thread([this] { context.run(); });
    }
    ~impl() {
        asio::post(context, [this] { context.stop(); });
        thread.join();
    }

    net::task<> accept() {
        for (;;) {
            auto l = std::make_shared<link>(context.get_executor());
            auto [ec] = co_await acceptor.async_accept(l->client, net::use_task);
            if (ec) co_return;
            ++accepted;
            if (refusing) {
                l->close();
                continue;
            }
            const net::tcp::endpoint there(asio::ip::address_v4::loopback(), target);
            auto [failed] = co_await l->server.async_connect(there, net::use_task);
            if (failed) {
                l->close();
                continue;
            }
            l->client.set_option(net::tcp::no_delay(true));
            l->server.set_option(net::tcp::no_delay(true));
            links.insert(l);
            asio::co_spawn(context, forward(l), asio::detached);
            asio::co_spawn(context, gather(l), asio::detached);
            asio::co_spawn(context, send(l), asio::detached);
        }
    }

    net::task<> while_silent(link_ptr l) {
        net::timer t(context.get_executor());
        while (silent && l->open) {
            t.expires_after(2ms);
            auto [ec] = co_await t.async_wait(net::use_task);
            if (ec) co_return;
        }
    }

    void end(const link_ptr& l) {
        l->close();
        links.erase(l);
    }

    net::task<> forward(link_ptr l) {
        std::string buffer(65536, '\0');
        while (l->open) {
            auto [ec, n] = co_await l->client.async_read_some(asio::buffer(buffer), net::use_task);
            if (ec) break;
            co_await while_silent(l);
            l->requests.append(buffer, 0, n);
            while (const std::size_t size = resp_size(l->requests)) {
                l->verbs.push_back(verb_of(l->requests));
                l->requests.erase(0, size);
                ++commands;
            }
            auto [failed, written] =
                co_await asio::async_write(l->server, asio::buffer(buffer.data(), n), net::use_task);
            if (failed) break;
        }
        end(l);
    }

    [[nodiscard]] static std::string verb_of(std::string_view command) {
        const std::size_t size_line = command.find("\r\n") + 2;
        const std::size_t word = command.find("\r\n", size_line) + 2;
        return std::string(command.substr(word, command.find("\r\n", word) - word));
    }

    net::task<> gather(link_ptr l) {
        std::string buffer(65536, '\0');
        while (l->open) {
            auto [ec, n] = co_await l->server.async_read_some(asio::buffer(buffer), net::use_task);
            if (ec) break;
            l->replies.append(buffer, 0, n);
            while (const std::size_t size = resp_size(l->replies)) {
                queue(*l, l->replies.substr(0, size));
                l->replies.erase(0, size);
            }
        }
        end(l);
    }

    void queue(link& l, std::string reply) {
        const std::string verb = l.verbs.empty() ? std::string{} : std::move(l.verbs.front());
        if (!l.verbs.empty()) {
            l.verbs.pop_front();
        }
        const std::scoped_lock lock(mutex);
        if (change) {
            reply = change(verb, std::move(reply));
        }
        net::time_point when = net::clock::now();
        if (most > 0ms) {
            when += std::chrono::milliseconds(
                std::uniform_int_distribution<std::int64_t>(least.count(), most.count())(random));
        }
        if (!l.outgoing.empty()) {
            when = std::max(when, l.outgoing.back().when);
        }
        l.outgoing.push_back({when, std::move(reply)});
        l.wake.cancel();
    }

    net::task<> send(link_ptr l) {
        while (l->open) {
            const auto now = net::clock::now();
            if (l->outgoing.empty() || l->outgoing.front().when > now) {
                l->wake.expires_at(l->outgoing.empty() ? net::time_point::max() : l->outgoing.front().when);
                co_await l->wake.async_wait(net::use_task);
                continue;
            }
            const std::string bytes = std::move(l->outgoing.front().bytes);
            l->outgoing.pop_front();
            co_await while_silent(l);
            auto [ec, n] = co_await asio::async_write(l->client, asio::buffer(bytes), net::use_task);
            if (ec) break;
        }
        end(l);
    }

    std::uint16_t target;
    std::uint16_t listening = 0;
    std::atomic<bool> silent{false}, refusing{false};
    std::atomic<std::uint64_t> accepted{0}, commands{0};
    std::mutex mutex;  // of the four below
    rewrite change;
    std::chrono::milliseconds least{0}, most{0};
    std::mt19937_64 random{20230320};

    asio::io_context context{1};
    net::tcp_acceptor acceptor;
    std::set<link_ptr> links;
    std::thread thread;
};

fault_proxy::fault_proxy(std::uint16_t target_port) : impl_(std::make_unique<impl>(target_port)) {}
fault_proxy::~fault_proxy() = default;

std::uint16_t fault_proxy::port() const noexcept {
    return impl_->listening;
}

void fault_proxy::delay(std::chrono::milliseconds least, std::chrono::milliseconds most) {
    const std::scoped_lock lock(impl_->mutex);
    impl_->least = least;
    impl_->most = most;
}

void fault_proxy::blackhole(bool on) {
    impl_->silent = on;
}

void fault_proxy::refuse(bool on) {
    impl_->refusing = on;
}

void fault_proxy::rewrite_replies(rewrite f) {
    const std::scoped_lock lock(impl_->mutex);
    impl_->change = std::move(f);
}

void fault_proxy::cut() {
    asio::post(impl_->context, [this] {
        for (const auto& l : std::set(impl_->links)) {
            impl_->end(l);
        }
    });
}

std::uint64_t fault_proxy::accepted() const noexcept {
    return impl_->accepted;
}

std::uint64_t fault_proxy::commands() const noexcept {
    return impl_->commands;
}

}  // namespace idem::test
