#include "gateway/cli/admin_call.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/json.hpp>
#include <cstdlib>
#include <fstream>
#include <span>

#include "gateway/admin/token.hpp"
#include "gateway/config/loader.hpp"
#include "gateway/config/text.hpp"
#include "upstream/base/digest.hpp"
#include "upstream/client/fetch.hpp"

namespace idem::gateway::cli {

namespace client = upstream::client;
namespace net = upstream::net;

namespace {

constexpr std::size_t answer_cap = std::size_t{64} << 20;

std::string token_for(const config::configuration& c) {
    if (const char* set = std::getenv("IDEM_ADMIN_TOKEN"); set && *set) return set;
    if (!c.admin.token.empty()) return c.admin.token;
    std::ifstream file(c.data + "/" + admin::token_file);
    std::string token;
    file >> token;
    return token;
}

client::target target_of(config::address at) {
    if (at.host == "0.0.0.0") at.host = "127.0.0.1";
    if (at.host == "::") at.host = "::1";
    client::target to;
    to.host = at.host;
    to.port = at.port;
    return to;
}

}  // namespace

std::string admin_answer::problem() const {
    boost::system::error_code ec;
    const auto v = boost::json::parse(body, ec);
    if (!ec && v.is_object()) {
        if (const auto* detail = v.get_object().if_contains("detail"); detail && detail->is_string())
            return std::string(detail->get_string());
    }
    return "status " + std::to_string(status);
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                           c == '.' || c == '_' || c == '~';
        if (plain) {
            out += c;
        } else {
            const auto byte = static_cast<std::uint8_t>(c);
            out += "%" + to_hex(std::span<const std::uint8_t>(&byte, 1));
        }
    }
    return out;
}

admin_answer call_admin(const admin_flags& where, std::string_view method, std::string_view target, std::string body,
                        std::chrono::milliseconds limit) {
    admin_answer out;
    // Errors elsewhere in the file do not matter here: listener, token and data directory are all that is used.
    const config::outcome_of_load read = config::load_from(where.from);
    if (read.unread) {
        out.trouble = read.result.errors.front().text();
        return out;
    }
    const config::configuration& c = read.result.value;
    config::address at = c.admin.at;
    if (where.address) {
        const auto given = config::parse_address(*where.address);
        if (!given) {
            out.trouble = "\"" + *where.address + "\" is not ADDRESS:PORT";
            return out;
        }
        at = *given;
    }
    const std::string token = token_for(c);
    if (token.empty()) {
        out.trouble =
            "no token: set IDEM_ADMIN_TOKEN, or name the configuration (-c) or the data directory (--data) of "
            "the gateway";
        return out;
    }
    net::asio::io_context io(1);
    client::fetched got;
    {
        client::pool connections(io.get_executor());
        const client::target to = target_of(at);
        client::outgoing ask;
        ask.method = method;
        ask.headers.add("Authorization", "Bearer " + token);
        ask.headers.add("Connection", "close");
        const client::timeouts limits{limit, limit, limit, limit};
        net::asio::co_spawn(
            io.get_executor(),
            client::fetch(connections, to, limits, std::move(ask), std::string(target), std::move(body), answer_cap),
            [&](std::exception_ptr, client::fetched f) {
                got = std::move(f);
                connections.drain();
            });
        io.run_for(limit + std::chrono::seconds(1));
    }
    if (got.broke || got.status == 0) {
        out.trouble = "no answer from the admin listener " + config::format_address(at) +
                      (got.broke.detail.empty() ? "" : ": " + got.broke.detail);
        return out;
    }
    out.status = got.status;
    out.body = std::move(got.body);
    return out;
}

}  // namespace idem::gateway::cli
