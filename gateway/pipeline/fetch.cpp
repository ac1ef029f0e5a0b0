#include "gateway/pipeline/fetch.hpp"

#include "upstream/client/exchange.hpp"

namespace idem::gateway::pipeline {

namespace {

constexpr std::size_t most = std::size_t{1} << 20;

std::string own_path(const upstream::client::target& at, std::string_view path) {
    std::string_view base = at.base_path;
    if (base.ends_with("/v1")) base.remove_suffix(3);
    return std::string(base).append(path);
}

}  // namespace

net::task<fetched> fetch(upstream::client::pool& connections, upstream::client::credential& own,
                         const config::replica& at, std::string path, net::duration within) {
    fetched got;
    upstream::client::outgoing out;
    out.method = "GET";
    out.target = own_path(at.at, path);
    out.headers.add("Accept-Encoding", "identity");
    if (own.own()) out.headers.add(own.header(), own.field(net::clock::now()));
    upstream::client::exchange asked(connections, at.at, {within, within, within, within});
    got.failed = co_await asked.open(out, {});
    if (got.failed) co_return got;
    got.failed = co_await asked.read_head();
    if (got.failed) co_return got;
    for (;;) {
        std::string_view bytes;
        got.failed = co_await asked.read_body(bytes);
        if (got.failed) co_return got;
        if (bytes.empty()) break;
        if (got.body.size() + bytes.size() > most) {
            got.failed = {reason::entry_too_large, "the answer is too long"};
            co_return got;
        }
        got.body.append(bytes);
    }
    got.status = asked.head().status;
    co_return got;
}

}  // namespace idem::gateway::pipeline
