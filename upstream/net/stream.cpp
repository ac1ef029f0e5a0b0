#include "upstream/net/stream.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>

namespace idem::upstream::net {

std::size_t stream::write_now(std::span<const asio::const_buffer> from, error_code& ec) {
    ec.clear();
    if (tls_) return 0;
    std::array<iovec, 8> parts{};
    std::size_t count = 0;
    for (const asio::const_buffer& b : from) {
        if (b.size() == 0) continue;
        if (count == parts.size()) break;
        parts[count++] = {const_cast<void*>(b.data()), b.size()};
    }
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    const ssize_t sent = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) ec.assign(errno, boost::system::system_category());
    return 0;
}

bool stream::quiet() noexcept {
    if (tls_) {
        SSL* const ssl = tls_->native_handle();
        if (SSL_has_pending(ssl) != 0 || BIO_ctrl_pending(SSL_get_rbio(ssl)) != 0) return false;
    }
    char byte = 0;
    const ssize_t n = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

void stream::cancel() noexcept {
    error_code ignored;
    socket_.cancel(ignored);
}

void stream::abort() noexcept {
    aborted_ = true;
    error_code ignored;
    socket_.close(ignored);
}

}  // namespace idem::upstream::net
