#include "gateway/cli/healthcheck.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <string_view>

#include "gateway/config/text.hpp"

namespace idem::gateway::cli {

std::string not_ready(config::address at, std::chrono::milliseconds limit) {
    namespace asio = boost::asio;
    if (at.host == "0.0.0.0") at.host = "127.0.0.1";
    if (at.host == "::") at.host = "::1";
    const std::string where = config::format_address(at);
    boost::system::error_code bad;
    const auto literal = asio::ip::make_address(at.host, bad);
    if (bad) return where + " is not an address";

    asio::io_context io(1);
    asio::ip::tcp::socket socket(io);
    // A loopback name whatever the address: the admin listener refuses others.
    const std::string request = "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    std::string status(12, '\0');  // "HTTP/1.1 200"
    std::string why = "no answer from " + where + " within " + config::format_duration(limit);
    socket.async_connect({literal, at.port}, [&](const boost::system::error_code& ec) {
        if (ec == asio::error::connection_refused) {
            why = "nothing listens on " + where +
                  " (connection refused): the gateway does not run, or its admin address is another";
            return;
        }
        if (ec) {
            why = "cannot connect to " + where + ": " + ec.message();
            return;
        }
        asio::async_write(socket, asio::buffer(request), [&](const boost::system::error_code& ec2, std::size_t) {
            if (ec2) return;
            asio::async_read(socket, asio::buffer(status), [&](const boost::system::error_code& ec3, std::size_t) {
                const std::string_view answer(status);
                if (ec3 || !answer.starts_with("HTTP/1.")) {
                    why = where + " does not answer as a gateway's admin listener";
                } else {
                    const auto code = answer.substr(9);
                    why = code == "200" ? "" : "not ready: " + where + " answers /readyz with " + std::string(code);
                }
            });
        });
    });
    io.run_for(limit);
    return why;
}

}  // namespace idem::gateway::cli
