#pragma once
// Names for the parts of Asio that Idem uses; the only place that fixes them.
//
// One io_context per thread with concurrency hint 1; a request stays on the thread that accepted it. The executor type
// is the concrete one (no type erasure) so that an await costs no virtual call. Every operation completes with a tuple
// whose first element is the error_code: the line after an await is `if (ec)`.
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>

namespace idem::upstream::net {

namespace asio = boost::asio;
using boost::system::error_code;
using executor = asio::io_context::executor_type;
/// A coroutine of this program. Owned by whoever awaits it, or by a task_group. Parameters that outlive the first
/// suspension are taken by value; a reference parameter names an object whose owner joins this task.
template <class T = void>
using task = asio::awaitable<T, executor>;
/// Completion token of every await: yields std::tuple<error_code, …>.
inline constexpr asio::as_tuple_t<asio::use_awaitable_t<executor>> use_task{};
/// The same without a coroutine frame of its own; the result may only be awaited, at once, where it was made.
inline constexpr asio::as_tuple_t<asio::deferred_t> use_op{};
using tcp = asio::ip::tcp;
using tcp_socket = asio::basic_stream_socket<tcp, executor>;
using tcp_acceptor = asio::basic_socket_acceptor<tcp, executor>;
using tcp_resolver = asio::ip::basic_resolver<tcp, executor>;
using unix_socket = asio::basic_stream_socket<asio::local::stream_protocol, executor>;
using clock = std::chrono::steady_clock;
using time_point = clock::time_point;
using duration = clock::duration;
using timer = asio::basic_waitable_timer<clock, asio::wait_traits<clock>, executor>;

}  // namespace idem::upstream::net
