#include "upstream/net/listen.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

using namespace idem::upstream::net;

namespace {

tcp::endpoint at(const char* address, std::uint16_t port = 0) {
    return {asio::ip::make_address(address), port};
}

/// A listener whose threads are played by further sockets.
struct group {
    explicit group(const char* address, int size = 3) {
        for (int i = 0; i < size; ++i) {
            tcp_acceptor& next = members.emplace_back(context.get_executor());
            const error_code ec = listen(next, at(address, port), i == 0 ? seat::first : seat::further);
            if (ec) {
                failed = ec;
                return;
            }
            port = members.front().local_endpoint().port();
            next.non_blocking(true);
        }
    }

    std::vector<int> accept_all() {
        std::vector<int> counts;
        for (tcp_acceptor& each : members) {
            int n = 0;
            error_code ec;
            for (;; ++n) {
                tcp_socket socket(context.get_executor());
                each.accept(socket, ec);
                if (ec) break;
            }
            counts.push_back(n);
        }
        return counts;
    }

    asio::io_context context{1};
    std::vector<tcp_acceptor> members;
    std::uint16_t port = 0;
    error_code failed;
};

error_code try_first(const char* address, std::uint16_t port) {
    asio::io_context context(1);
    tcp_acceptor a(context.get_executor());
    const error_code ec = listen(a, at(address, port), seat::first);
    CHECK(a.is_open() == !ec);
    return ec;
}

bool has_ipv6() {
    if (!try_first("::1", 0)) return true;
    MESSAGE("SKIPPED: no IPv6 loopback here");
    return false;
}

}  // namespace

TEST_CASE("connections are spread over the sockets of one port") {
    for (const char* address : {"127.0.0.1", "0.0.0.0", "::1", "::"}) {
        CAPTURE(address);
        const bool v6 = std::string_view(address).find(':') != std::string_view::npos;
        if (v6 && !has_ipv6()) continue;
        group g(address);
        REQUIRE_FALSE(g.failed);
        std::vector<tcp_socket> clients;
        for (int i = 0; i < 90; ++i) {
            clients.emplace_back(g.context.get_executor()).connect(at(v6 ? "::1" : "127.0.0.1", g.port));
        }
        int sum = 0;
        for (const int n : g.accept_all()) {
            CHECK(n > 0);
            sum += n;
        }
        CHECK(sum == 90);
    }
}

TEST_CASE("a port that is listened on is not taken a second time") {
    group g("127.0.0.1");
    REQUIRE_FALSE(g.failed);
    CHECK(try_first("127.0.0.1", g.port) == asio::error::address_in_use);
    CHECK(try_first("0.0.0.0", g.port) == asio::error::address_in_use);
    CHECK_FALSE(try_first("127.0.0.2", g.port));
    g.members.clear();
    CHECK_FALSE(try_first("127.0.0.1", g.port));
}

TEST_CASE("a listener on every address holds both families") {
    if (!has_ipv6()) return;
    group g("::");
    REQUIRE_FALSE(g.failed);
    for (const char* address : {"::", "::1", "0.0.0.0", "127.0.0.1"}) {
        CAPTURE(address);
        CHECK(try_first(address, g.port) == asio::error::address_in_use);
    }
}

TEST_CASE("connections that an earlier process closed do not hold the port") {
    std::uint16_t port = 0;
    {
        group g("127.0.0.1", 1);
        port = g.port;
        tcp_socket client(g.context.get_executor());
        client.connect(at("127.0.0.1", port));
        tcp_socket served(g.context.get_executor());
        g.members.front().accept(served);
        served.close();  // the listening side closes first and keeps the TIME_WAIT
        std::array<char, 1> byte{};
        error_code ec;
        client.read_some(asio::buffer(byte), ec);
        CHECK(ec == asio::error::eof);
    }
    CHECK_FALSE(try_first("127.0.0.1", port));
}

TEST_CASE("of two that start at once exactly one gets the port, with all its sockets") {
    for (int round = 0; round < 200; ++round) {
        std::uint16_t port = 0;
        {
            group free("127.0.0.1", 1);
            port = free.port;
        }
        std::array<std::optional<error_code>, 4> ends;
        std::array<asio::io_context, 4> contexts;
        std::array<std::vector<tcp_acceptor>, 4> held;
        std::atomic<int> ready{0};
        std::vector<std::thread> starters;
        for (std::size_t i = 0; i < ends.size(); ++i) {
            starters.emplace_back([&, i] {
                ++ready;
                while (ready < static_cast<int>(ends.size())) std::this_thread::yield();
                error_code ec =
                    listen(held[i].emplace_back(contexts[i].get_executor()), at("127.0.0.1", port), seat::first);
                for (int more = 0; !ec && more < 2; ++more) {
                    ec = listen(held[i].emplace_back(contexts[i].get_executor()), at("127.0.0.1", port), seat::further);
                }
                ends[i] = ec;
            });
        }
        for (std::thread& each : starters) each.join();
        int winners = 0;
        for (const auto& end : ends) {
            if (!*end)
                ++winners;
            else
                CHECK(*end == asio::error::address_in_use);
        }
        REQUIRE(winners == 1);
    }
}
