#include "upstream/net/listen.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace idem::upstream::net {

namespace {

constexpr int backlog = 4096;

error_code share_port(tcp_acceptor& acceptor) {
    const int on = 1;
    if (::setsockopt(acceptor.native_handle(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0) return {};
    return {errno, boost::system::system_category()};
}

error_code try_once(tcp_acceptor& acceptor, const tcp::endpoint& at, seat how) {
    error_code ec;
    acceptor.open(at.protocol(), ec);
    if (!ec) acceptor.set_option(tcp_acceptor::reuse_address(true), ec);
    if (!ec && how == seat::further) ec = share_port(acceptor);
    if (!ec) acceptor.bind(at, ec);
    if (!ec) acceptor.listen(backlog, ec);
    if (!ec && how == seat::first) ec = share_port(acceptor);
    if (ec) {
        error_code ignored;
        acceptor.close(ignored);
    }
    return ec;
}

}  // namespace

error_code listen(tcp_acceptor& acceptor, const tcp::endpoint& at, seat how) {
    error_code ec = try_once(acceptor, at, how);
    for (int again = 0; again < 2 && ec == asio::error::address_in_use; ++again) ec = try_once(acceptor, at, how);
    return ec;
}

}  // namespace idem::upstream::net
