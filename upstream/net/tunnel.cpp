#include "upstream/net/tunnel.hpp"

#include <array>

#include "upstream/http/message.hpp"

namespace idem::upstream::net {
namespace {

constexpr std::size_t longest_answer = 16 * 1024;

std::string question(std::string_view authority, const proxy_settings& through) {
    std::string out = "CONNECT ";
    out.append(authority).append(" HTTP/1.1\r\nHost: ").append(authority).append("\r\n");
    if (!through.authorization.empty()) http::append_field(out, "Proxy-Authorization", through.authorization);
    return out + "\r\n";
}

}  // namespace

task<std::string> open_tunnel(stream& into, std::string_view authority, const proxy_settings& through) {
    const std::string asked = question(authority, through);
    auto [unsent, sent] = co_await into.write(asio::buffer(asked));
    if (unsent) co_return "the proxy closed the connection";
    std::array<char, 2048> chunk;
    std::string in;
    // A 2xx to CONNECT has no body, whatever its fields say; neither has an answer to HEAD.
    http::response_parser parser;
    parser.reset(true);
    while (in.size() < longest_answer) {
        auto [ec, n] = co_await into.read_some(asio::buffer(chunk));
        if (ec) co_return "the proxy closed the connection";
        in.append(chunk.data(), n);
        const http::parsed p = parser.next(in);
        in.erase(0, p.consumed);
        if (p.event == http::parse_event::error) co_return "the proxy's answer is not valid HTTP";
        if (p.event != http::parse_event::head) continue;
        const unsigned status = parser.head().status;
        if (status < 200) {
            parser.reset(true);
            continue;
        }
        if (status > 299) co_return "the proxy answered " + std::to_string(status);
        // A server behind the proxy that speaks TLS waits for us.
        if (!in.empty()) co_return "the proxy sent more than its answer";
        co_return std::string();
    }
    co_return "the proxy's answer is too long";
}

}  // namespace idem::upstream::net
