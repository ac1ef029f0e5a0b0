#include "gateway/pipeline/tunnel.hpp"

namespace idem::gateway::pipeline {

namespace net = upstream::net;

namespace {

net::task<void> client_to_server(http::transaction* client, upstream::client::exchange* server) {
    for (;;) {
        const http::body_piece piece = co_await client->read_raw();
        if (piece.why != reason::none || piece.bytes.empty()) break;
        const upstream::client::failure failed = co_await server->write_raw(piece.bytes);
        if (failed) break;
    }
    server->abort();
}

}  // namespace

net::task<void> tunnel(http::transaction& client, upstream::client::exchange& server) {
    net::task_group other(client.where(), [](std::exception_ptr) {});
    other.spawn(client_to_server(&client, &server));
    for (;;) {
        std::string_view bytes;
        const upstream::client::failure failed = co_await server.read_raw(bytes);
        if (failed || bytes.empty()) break;
        const net::error_code ec = co_await client.write_raw(bytes);
        if (ec) break;
    }
    server.abort();
    client.abort();
    [[maybe_unused]] const bool all = co_await other.join();
}

}  // namespace idem::gateway::pipeline
