#pragma once
// One client connection: reads requests one after another, lets the handler answer each, keeps the deadlines. It is the
// transaction that the handler sees. Owned by its own coroutine run(); everything happens on the server's thread.
//
// The quick path (the request is in memory and answer_at_once says yes) is one read and one gathered write in the frame
// of run(), without allocation and without touching a timer.
#include <boost/asio/deferred.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <exception>
#include <memory>
#include <string>

#include "gateway/http/connection.hpp"
#include "gateway/http/pace.hpp"
#include "upstream/net/gather.hpp"
#include "upstream/net/read_buffer.hpp"

namespace idem::gateway::http {

namespace asio = boost::asio;
using net::gather;

using plain_stream = net::tcp_socket;
using tls_stream = asio::ssl::stream<net::tcp_socket>;

/// Awaits an operation without the coroutine frame that use_awaitable makes for each.
inline constexpr asio::as_tuple_t<asio::deferred_t> direct{asio::deferred};

inline constexpr std::size_t idle_bytes = 8 * 1024;      // of the read buffer, while nothing larger is needed
inline constexpr std::size_t slice_bytes = 64 * 1024;    // one deadline covers so much of a write
inline constexpr std::size_t upload_bytes = 32 * 1024;   // free space for streaming a request body
inline constexpr std::size_t kept_bytes = 8 * 1024;      // what an idle connection may keep of a scratch string
inline constexpr std::size_t linger_bytes = 256 * 1024;  // read and dropped before a close
inline constexpr net::duration look_again = std::chrono::milliseconds(250);
inline constexpr net::duration linger_time = std::chrono::seconds(2);

template <class Stream>
class session final : public transaction, public connection, public std::enable_shared_from_this<session<Stream>> {
public:
    session(Stream stream, peer client, std::shared_ptr<server_state> server);
    ~session() override;
    /// `self` keeps the session alive until the coroutine is destroyed.
    [[nodiscard]] net::task<void> run(std::shared_ptr<session> self);

    void drain(bool all) noexcept override;

    [[nodiscard]] const request_head& head() const noexcept override { return parser_.head(); }
    [[nodiscard]] const peer& client() const noexcept override { return client_; }
    [[nodiscard]] net::time_point started() const noexcept override { return started_; }
    [[nodiscard]] net::executor where() const noexcept override { return server_->on; }
    [[nodiscard]] net::task<body_piece> read_body() override;
    [[nodiscard]] net::task<net::error_code> send(std::string_view head, std::string_view body) override;
    [[nodiscard]] net::task<net::error_code> begin(std::string_view head, body_framing framing,
                                                   std::uint64_t length) override;
    [[nodiscard]] net::task<net::error_code> write(std::string_view bytes) override;
    [[nodiscard]] net::task<net::error_code> finish(std::string_view trailers) override;
    void abort() noexcept override;
    void close_after() noexcept override { close_after_ = true; }
    void watch_gone(std::function<void()> gone) override;
    [[nodiscard]] bool begun() const noexcept override { return begun_; }
    [[nodiscard]] std::uint64_t bytes_out() const noexcept override { return bytes_out_; }
    [[nodiscard]] std::uint64_t bytes_in() const noexcept override { return bytes_in_; }
    [[nodiscard]] net::task<body_piece> read_raw() override;
    [[nodiscard]] net::task<net::error_code> write_raw(std::string_view bytes) override;

private:
    static constexpr bool tls = std::is_same_v<Stream, tls_stream>;

    enum class step : std::uint8_t { read, whole, serve, refuse, close };
    enum class phase : std::uint8_t { head, counted_body, chunked_body };

    // Reading: advance() decides, run() obeys.
    void begin_message();
    [[nodiscard]] step advance();
    [[nodiscard]] step advance_head();
    [[nodiscard]] step after_head();
    [[nodiscard]] step gather_counted();
    [[nodiscard]] step gather_chunks();
    [[nodiscard]] step need(net::time_point limit, std::size_t bytes) noexcept;
    [[nodiscard]] step refuse_with(reason why, std::string_view detail) noexcept;
    [[nodiscard]] asio::mutable_buffer start_read();
    [[nodiscard]] reason end_read(net::error_code ec, std::size_t n) noexcept;
    [[nodiscard]] net::task<reason> read_more();
    [[nodiscard]] net::task<void> lost(reason why);

    // Answering.
    [[nodiscard]] bool stays_open() const noexcept;
    void frame(std::string& out, body_framing wanted, std::uint64_t length);
    [[nodiscard]] gather frame_quick();
    void quick_done(net::error_code ec);
    [[nodiscard]] net::error_code write_now(gather& out) noexcept;
    [[nodiscard]] net::task<net::error_code> write_all(gather out);
    [[nodiscard]] net::task<void> answer_at_length();
    [[nodiscard]] net::task<void> refuse(reason why, std::string_view detail);
    void flush() noexcept;
    void answered() noexcept;

    // The ends of a connection.
    [[nodiscard]] net::task<bool> handshake();
    [[nodiscard]] net::task<void> close();
    [[nodiscard]] net::task<void> linger();
    void start_watch();
    void look_for_end();
    [[nodiscard]] net::tcp_socket& socket() noexcept;
    static void read_expired(void* self) noexcept;
    static void write_expired(void* self) noexcept;
    static void look_expired(void* self) noexcept;

    std::shared_ptr<server_state> server_;
    Stream stream_;
    peer client_;
    net::read_buffer in_{idle_bytes};
    upstream::http::request_parser parser_;
    net::deadline read_deadline_;
    net::deadline write_deadline_;
    net::deadline watch_deadline_;

    // Of the connection.
    net::time_point now_;
    bool open_ = true;   // false: no further request
    bool first_ = true;  // no request has come yet
    bool aborted_ = false;
    bool reading_ = false;  // the read deadline counts
    bool read_timed_out_ = false;
    bool at_end_ = false;  // the client sent all it will
    bool write_timed_out_ = false;
    bool watching_ = false;  // a wait for readability is pending

    // Of the request.
    phase phase_ = phase::head;
    bool in_message_ = false;  // its first byte was there
    net::time_point started_;
    net::time_point limit_;   // of the next read
    std::size_t wanted_ = 1;  // free bytes that the next read should have
    pace pace_;
    std::string chunks_;      // a chunked body, gathered
    std::string_view body_;   // gathered part of the body, not yet handed out
    bool continued_ = false;  // 100 Continue was sent
    reason body_failure_ = reason::none;
    std::uint64_t bytes_in_ = 0;
    reason why_ = reason::none;
    std::string_view detail_;

    // Of the answer.
    quick_reply quick_;
    answer_framing how_;
    std::string pending_;  // head bytes not yet written
    std::uint64_t body_left_ = 0;
    std::uint64_t bytes_out_ = 0;
    bool begun_ = false;
    bool finished_ = false;
    bool close_after_ = false;
    bool writing_ = false;
    std::function<void()> gone_;
};

/// The frame of run() starts here; defined in session_plain.cpp and session_tls.cpp.
[[nodiscard]] net::task<void> run_session(plain_stream stream, peer client, std::shared_ptr<server_state> server);
[[nodiscard]] net::task<void> run_session(tls_stream stream, peer client, std::shared_ptr<server_state> server);

}  // namespace idem::gateway::http
