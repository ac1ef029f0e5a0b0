#include "gateway/cli/healthcheck.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <string_view>

namespace idem::gateway::cli {

bool ready(config::address at, std::chrono::milliseconds limit) {
    namespace asio = boost::asio;
    if (at.host == "0.0.0.0") at.host = "127.0.0.1";
    if (at.host == "::") at.host = "::1";
    boost::system::error_code bad;
    const auto literal = asio::ip::make_address(at.host, bad);
    if (bad) return false;

    asio::io_context io(1);
    asio::ip::tcp::socket socket(io);
    // A loopback name whatever the address: the admin listener refuses others.
    const std::string request = "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    std::string status(12, '\0');  // "HTTP/1.1 200"
    bool good = false;
    socket.async_connect({literal, at.port}, [&](const boost::system::error_code& ec) {
        if (ec) return;
        asio::async_write(socket, asio::buffer(request), [&](const boost::system::error_code& ec2, std::size_t) {
            if (ec2) return;
            asio::async_read(socket, asio::buffer(status), [&](const boost::system::error_code& ec3, std::size_t) {
                good = !ec3 && std::string_view(status).substr(8) == " 200";
            });
        });
    });
    io.run_for(limit);
    return good;
}

}  // namespace idem::gateway::cli
