#pragma once
// A byte stream over TCP or a Unix socket, plain or TLS. One thread, one reader and one writer at a time; fixed address
// while in use. The awaitables have no frame of their own: they are awaited where they are made. Operations that are
// pending when the stream is aborted end with an error; the stream must live until they have.
#include <array>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <span>

#include "upstream/net/net.hpp"
#include "upstream/net/tls.hpp"

namespace idem::upstream::net {

class stream {
public:
    using socket_type = asio::basic_stream_socket<asio::generic::stream_protocol, executor>;
    using tls_type = asio::ssl::stream<socket_type&>;

    explicit stream(const executor& on) : socket_(on) {}
    explicit stream(tcp_socket accepted) : socket_(std::move(accepted)) {}
    explicit stream(unix_socket accepted) : socket_(std::move(accepted)) {}
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;

    [[nodiscard]] socket_type& socket() noexcept { return socket_; }
    [[nodiscard]] bool secured() const noexcept { return tls_ != nullptr; }
    /// Null on a plain stream.
    [[nodiscard]] SSL* tls_handle() noexcept { return tls_ ? tls_->native_handle() : nullptr; }

    /// From here on the stream speaks TLS; handshake() comes next.
    void secure(tls_context& with) { tls_ = std::make_unique<tls_type>(socket_, with); }
    /// REQUIRES secure(). Yields (error_code).
    [[nodiscard]] auto handshake(asio::ssl::stream_base::handshake_type side) {
        return tls_->async_handshake(side, use_op);
    }
    /// Yields (error_code, bytes).
    [[nodiscard]] auto read_some(asio::mutable_buffer into) {
        auto start = [this](auto handler, asio::mutable_buffer buffer) {
            if (tls_) {
                tls_->async_read_some(buffer, std::move(handler));
            } else {
                socket_.async_read_some(buffer, std::move(handler));
            }
        };
        return asio::async_initiate<decltype(use_op), void(error_code, std::size_t)>(std::move(start), use_op, into);
    }
    /// Writes all of the buffers (any ConstBufferSequence that may be copied). Yields (error_code, bytes).
    template <class Buffers>
    [[nodiscard]] auto write(Buffers from) {
        auto start = [this](auto handler, Buffers buffers) {
            if (tls_) {
                asio::async_write(*tls_, buffers, std::move(handler));
            } else {
                asio::async_write(socket_, buffers, std::move(handler));
            }
        };
        return asio::async_initiate<decltype(use_op), void(error_code, std::size_t)>(std::move(start), use_op, from);
    }
    /// Writes what the kernel takes at once, without an await: the common case for a message that fits its buffer.
    /// Bytes written; 0 on TLS, where only write() can.
    [[nodiscard]] std::size_t write_now(std::span<const asio::const_buffer> from, error_code& ec);

    /// True if the peer has sent neither bytes nor an end: the state that an idle connection must be in to be used
    /// again.
    [[nodiscard]] bool quiet() noexcept;
    /// Ends what is pending with operation_aborted and leaves the stream open.
    void cancel() noexcept;
    /// Closes for good, without TLS farewell; from the owner's thread, at any time.
    void abort() noexcept;
    [[nodiscard]] bool aborted() const noexcept { return aborted_; }
    /// The same, to watch.
    [[nodiscard]] const bool& aborted_flag() const noexcept { return aborted_; }

private:
    socket_type socket_;
    std::unique_ptr<tls_type> tls_;
    bool aborted_ = false;
};

}  // namespace idem::upstream::net
