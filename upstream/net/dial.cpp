#include "upstream/net/dial.hpp"

#include "upstream/net/deadline.hpp"
#include "upstream/net/resolver.hpp"
#include "upstream/net/tunnel.hpp"

namespace idem::upstream::net {
namespace {

using kind = dial_failure::kind;

void cancel_stream(void* s) noexcept {
    static_cast<stream*>(s)->cancel();
}

std::string name_of(const peer& to) {
    std::string name = to.port == 0 ? to.host : to.host + ":" + std::to_string(to.port);
    if (to.through) name += " through " + to.through.host + ":" + std::to_string(to.through.port);
    return name;
}

dial_failure failed(kind what, std::string_view step, const peer& to, std::string_view why) {
    std::string detail(step);
    detail.append(" ").append(name_of(to)).append(": ").append(why);
    return {what, std::move(detail)};
}

using endpoint = stream::socket_type::endpoint_type;

task<error_code> connect_to(stream& into, endpoint address, time_point until) {
    stream::socket_type& socket = into.socket();
    error_code ec;
    socket.close(ec);
    socket.open(address.protocol(), ec);
    if (ec) co_return ec;
    deadline guard(socket.get_executor(), cancel_stream, &into);
    guard.arm(until);
    auto [connected] = co_await socket.async_connect(address, use_op);
    if (connected && guard.expired()) co_return asio::error::timed_out;
    co_return connected;
}

task<dial_failure> secure(stream& into, const peer& to, time_point limit) {
    std::string error;
    const std::shared_ptr<tls_context> context = client_context(to.tls_options, error);
    if (!context) co_return failed(kind::tls, "TLS to", to, error);
    into.secure(*context);
    if (!expect_server(into.tls_handle(), to.tls_options, to.host)) {
        co_return failed(kind::tls, "TLS to", to, "not a name to verify");
    }
    deadline guard(into.socket().get_executor(), cancel_stream, &into);
    guard.arm(limit);
    auto [ec] = co_await into.handshake(asio::ssl::stream_base::client);
    if (!ec) co_return dial_failure{};
    if (into.aborted()) co_return failed(kind::aborted, "TLS to", to, "aborted");
    if (guard.expired()) co_return failed(kind::timeout, "TLS to", to, "no answer within the connect deadline");
    error = verification_error(into.tls_handle());
    co_return failed(kind::tls, "TLS to", to, error.empty() ? ec.message() : error);
}

task<dial_failure> pass_proxy(stream& into, const peer& to, time_point limit) {
    const bool v6 = to.host.find(':') != std::string::npos;
    const std::string authority = (v6 ? "[" + to.host + "]" : to.host) + ":" + std::to_string(to.port);
    deadline guard(into.socket().get_executor(), cancel_stream, &into);
    guard.arm(limit);
    const std::string error = co_await open_tunnel(into, authority, to.through);
    if (error.empty()) co_return dial_failure{};
    if (into.aborted()) co_return failed(kind::aborted, "connect to", to, "aborted");
    if (guard.expired()) co_return failed(kind::timeout, "connect to", to, "no answer within the connect deadline");
    co_return failed(kind::connect, "connect to", to, error);
}

}  // namespace

task<dial_failure> dial(stream& into, const peer& to, time_point limit) {
    std::vector<endpoint> addresses;
    const bool local = to.host.starts_with('/') && !to.through;
    resolver& names = resolver_of(into.socket().get_executor());
    const std::string& name = to.through ? to.through.host : to.host;
    resolution found;
    if (local) {
        addresses.emplace_back(asio::local::stream_protocol::endpoint(to.host));
    } else {
        const bool& given_up = into.aborted_flag();
        found = co_await names.resolve(name, limit, given_up);
        if (into.aborted()) co_return failed(kind::aborted, "resolve", to, "aborted");
        if (found.addresses.empty() && found.error.empty()) {
            co_return failed(kind::timeout, "resolve", to, "no answer within the connect deadline");
        }
        if (found.addresses.empty()) co_return failed(kind::resolve, "resolve", to, found.error);
        const std::uint16_t port = to.through ? to.through.port : to.port;
        for (const asio::ip::address& a : found.addresses) addresses.emplace_back(tcp::endpoint(a, port));
    }
    error_code last = asio::error::timed_out;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        const time_point now = clock::now();
        if (now >= limit) break;
        const auto share = (limit - now) / static_cast<duration::rep>(addresses.size() - i);
        last = co_await connect_to(into, addresses[i], now + share);
        if (into.aborted()) co_return failed(kind::aborted, "connect to", to, "aborted");
        if (!last) {
            if (i > 0) names.prefer(name, found.addresses[i]);  // the next call need not wait for the dead ones
            break;
        }
    }
    if (last == asio::error::timed_out) {
        co_return failed(kind::timeout, "connect to", to, "no answer within the connect deadline");
    }
    if (last) co_return failed(kind::connect, "connect to", to, last.message());
    if (!local) {
        error_code ignored;
        into.socket().set_option(tcp::no_delay(true), ignored);
    }
    if (to.tls) {
        if (to.through) {
            dial_failure unreached = co_await pass_proxy(into, to, limit);
            if (unreached) co_return unreached;
        }
        dial_failure f = co_await secure(into, to, limit);
        co_return f;
    }
    co_return dial_failure{};
}

void abort_dialing(stream& s) noexcept {
    const executor on = s.socket().get_executor();
    s.abort();
    resolver_of(on).nudge();
}

}  // namespace idem::upstream::net
