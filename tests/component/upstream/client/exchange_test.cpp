#include "upstream/client/exchange.hpp"

#include <boost/asio/post.hpp>

#include "tests/component/upstream/client/fetch.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/fake_upstream.hpp"
#include "upstream/net/resolver.hpp"

using namespace idem;
using namespace idem::test;
using namespace std::chrono_literals;

namespace {

const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

reply answer_ok(const received_request&) {
    return {ok, reply::ending::keep};
}

client::timeouts quick() {
    return {.connect = 5s, .first_byte = 5s, .between_bytes = 5s, .total = 10s};
}

}  // namespace

TEST_CASE("the request goes out whole, with our own framing, and the connection is used again") {
    fake_upstream server(answer_ok);
    bench on;
    const client::target to = target_of(server.url() + "/v1");
    CHECK(on.connections.idle() == 0);
    const fetched first = fetch(on, to, R"({"a":1})");
    CHECK(first.complete);
    CHECK(first.body == "ok");
    CHECK_FALSE(first.reused);
    CHECK(on.connections.idle() == 1);
    const fetched second = fetch(on, to, R"({"a":2})");
    CHECK(second.reused);
    CHECK(server.connections() == 1);
    const auto seen = server.requests();
    REQUIRE(seen.size() == 2);
    CHECK(seen[0].head == "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                              "\r\ncontent-type: application/json\r\nContent-Length: 7\r\n\r\n");
    CHECK(seen[0].body == R"({"a":1})");
    CHECK(seen[1].body == R"({"a":2})");
    on.connections.drain();
    CHECK(on.connections.idle() == 0);
    CHECK(server.wait_for_ended(1));
}

TEST_CASE("a body larger than the kernel takes at once") {
    fake_upstream server(answer_ok);
    bench on;
    std::string body(5 << 20, 'x');
    const fetched got = fetch(on, target_of(server.url()), body);
    CHECK(got.complete);
    CHECK(server.requests()[0].body == body);
}

namespace {

net::task<void> upload(bench& on, const client::target& to, client::outgoing out, std::vector<std::string> parts,
                       fetched& got) {
    client::exchange x(on.connections, to, quick());
    std::string_view bytes;
    got.failed = co_await x.open(out, parts.empty() ? std::string_view() : std::string_view(parts[0]));
    for (std::size_t i = 1; i < parts.size() && !got.failed; ++i) got.failed = co_await x.write_body(parts[i]);
    if (!got.failed) got.failed = co_await x.finish_body();
    if (got.failed) co_return;
    got.failed = co_await x.read_head();
    if (got.failed) co_return;
    got.status = x.head().status;
    got.failed = co_await x.read_body(bytes);
    got.body = bytes;
    got.failed = co_await x.read_body(bytes);
    got.complete = x.complete();
}

}  // namespace

TEST_CASE("uploads are streamed, and no chunk is ever empty") {
    fake_upstream server(answer_ok);
    bench on;
    const client::target to = target_of(server.url());
    client::outgoing out = post(0);
    out.framing = http::body_framing::chunked;
    fetched got;
    on.spawn(upload(on, to, out, {"first", "", "second", ""}, got));
    on.run();
    CHECK(got.complete);
    CHECK(server.requests()[0].body == "5\r\nfirst\r\n6\r\nsecond\r\n0\r\n\r\n");
    CHECK(on.connections.idle() == 1);

    out = post(11);
    on.spawn(upload(on, to, out, {"", "first", "second"}, got));
    on.run();
    CHECK(got.complete);
    CHECK(server.requests()[1].body == "firstsecond");
    // What cannot be sent again does not gamble on an idle connection.
    CHECK(server.connections() == 2);

    on.spawn(upload(on, to, out, {"first"}, got));
    on.run();
    CHECK(got.failed.why == reason::internal_error);
    on.spawn(upload(on, to, out, {"first", "second", "third"}, got));
    on.run();
    CHECK(got.failed.why == reason::internal_error);
}

TEST_CASE("a request head with a line break inside is not sent") {
    fake_upstream server(answer_ok);
    bench on;
    const client::target to = target_of(server.url());
    client::outgoing out = post(0);
    out.target = "/\r\nX-Injected: 1";
    fetched got;
    on.spawn(upload(on, to, out, {}, got));
    on.run();
    CHECK(got.failed.why == reason::internal_error);
    CHECK(server.requests().empty());
}

TEST_CASE("HEAD has no body, whatever the length says") {
    fake_upstream server(
        [](const received_request&) { return reply{"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"}; });
    bench on;
    const client::target to = target_of(server.url());
    client::outgoing out;
    out.method = "HEAD";
    out.target = "/";
    fetched got;
    on.spawn(fetch_into(got, on, to, out, "", quick()));
    on.run();
    CHECK(got.complete);
    CHECK(on.connections.idle() == 1);
}

TEST_CASE("an idle connection that the upstream closed is noticed before it is used") {
    fake_upstream server([](const received_request& r) {
        return reply{ok, r.connection == 0 ? reply::ending::fin : reply::ending::keep};
    });
    bench on;
    const client::target to = target_of(server.url());
    CHECK(fetch(on, to).complete);
    CHECK(on.connections.idle() == 1);
    REQUIRE(server.wait_for_ended(1));
    const fetched got = fetch(on, to);
    CHECK(got.complete);
    CHECK_FALSE(got.reused);
    CHECK(server.requests().size() == 2);
}

TEST_CASE("bytes that arrive on an idle connection are never the answer to the next request") {
    fake_upstream server([](const received_request& r) {
        if (r.connection > 0) return reply{ok};
        return reply{ok + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"};
    });
    bench on;
    const client::target to = target_of(server.url());
    CHECK(fetch(on, to).body == "ok");
    CHECK(fetch(on, to).body == "ok");
    CHECK(server.connections() == 2);
}

TEST_CASE("a connection that dies as it is used again is replaced once, if nothing had arrived") {
    for (const reply::ending how : {reply::ending::fin, reply::ending::rst}) {
        for (const std::string& partial : {std::string(), std::string("HTTP/1.1 2")}) {
            fake_upstream server([&](const received_request& r) {
                return r.connection == 0 && r.number == 1 ? reply{partial, how} : reply{ok};
            });
            bench on;
            const client::target to = target_of(server.url());
            CHECK(fetch(on, to).complete);
            const fetched got = fetch(on, to);
            if (partial.empty()) {
                CHECK(got.complete);
                CHECK_FALSE(got.reused);
                CHECK(server.requests().size() == 3);
            } else if (how == reply::ending::fin) {
                CHECK(got.failed.why == reason::upstream_reset);
                CHECK(server.requests().size() == 2);
            }
        }
    }
}

TEST_CASE("a fresh connection that dies is not tried again") {
    fake_upstream server([](const received_request&) { return reply{"", reply::ending::fin}; });
    bench on;
    const fetched got = fetch(on, target_of(server.url()));
    CHECK(got.failed.why == reason::upstream_reset);
    CHECK(server.requests().size() == 1);
}

TEST_CASE("an upstream that answers early and refuses the body is heard") {
    fake_upstream server(
        [](const received_request&) {
            return reply{"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                         reply::ending::hang};
        },
        {.speak_first = true});
    bench on;
    const client::target to = target_of(server.url());
    struct early {
        static net::task<void> run(bench& b, const client::target& to, unsigned& status) {
            client::exchange x(b.connections, to, quick());
            const client::outgoing out = post(100);
            client::failure f = co_await x.open(out, "part");
            REQUIRE_FALSE(f);
            f = co_await x.read_head();
            REQUIRE_FALSE(f);
            status = x.head().status;
            std::string_view bytes;
            f = co_await x.read_body(bytes);
            CHECK_FALSE(f);
            CHECK(x.complete());
        }
    };
    unsigned status = 0;
    on.spawn(early::run(on, to, status));
    on.run();
    CHECK(status == 413);
    CHECK(on.connections.idle() == 0);
}

TEST_CASE("idle connections are bounded in number and time") {
    fake_upstream server([](const received_request& r) { return reply{r.number == 0 ? ok : ok}; });
    bench on(client::pool_limits{.per_target = 2, .idle = 100ms});
    const client::target to = target_of(server.url());
    std::vector<fetched> got(4);
    for (fetched& each : got) on.spawn(fetch_into(each, on, to, post(2), "{}", quick()));
    on.run();
    for (const fetched& each : got) CHECK(each.complete);
    CHECK(on.connections.idle() == 2);
    while (on.connections.idle() > 0) on.context.run_one();
    CHECK(server.wait_for_ended(4));
}

TEST_CASE("a connection that is old enough is not used again") {
    fake_upstream server([](const received_request&) { return reply{ok}; });
    bench on(client::pool_limits{.age = 0ms});
    const client::target to = target_of(server.url());
    fetched got;
    on.spawn(fetch_into(got, on, to, post(2), "{}", quick()));
    on.run();
    CHECK(got.complete);
    CHECK(on.connections.idle() == 0);
}

TEST_CASE("each deadline names itself") {
    struct row {
        std::string_view name;
        std::string bytes;
        client::timeouts limits;
    };
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n";
    const row rows[] = {
        {"first-byte deadline of 0.05 s passed", "", {5s, 50ms, 5s, 5s}},
        {"first-byte deadline of 0.05 s passed", "HTTP/1.1 102 Processing\r\n\r\n", {5s, 50ms, 5s, 5s}},
        {"between-bytes deadline of 0.05 s passed", "HTTP/1.1 200 OK\r\n", {5s, 5s, 50ms, 5s}},
        {"between-bytes deadline of 0.05 s passed", head + "four", {5s, 5s, 50ms, 5s}},
        {"total deadline of 0.05 s passed", head + "four", {5s, 5s, 5s, 50ms}},
        {"total deadline of 0.05 s passed", "", {5s, 5s, 5s, 50ms}},
    };
    for (const row& r : rows) {
        fake_upstream server([&](const received_request&) { return reply{r.bytes, reply::ending::hang}; });
        bench on;
        const net::time_point start = net::clock::now();
        const fetched got = fetch(on, target_of(server.url()), "{}", r.limits);
        CHECK(got.failed.why == reason::upstream_timeout);
        CHECK(got.failed.detail.starts_with(r.name));  // a busy machine may spend the total while it connects
        CHECK(net::clock::now() - start >= 50ms);
        CHECK(on.connections.idle() == 0);
        CHECK(server.wait_for_ended(1));
    }
}

TEST_CASE("an upstream that does not read hits the between-bytes deadline") {
    // Speaks first and then never reads: the body fills the kernel's buffers.
    fake_upstream server([](const received_request&) { return reply{"", reply::ending::fin}; }, {.speak_first = false});
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(fd, 8) == 0);
    REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    bench on;
    const std::string body(32 << 20, 'x');
    const client::target to = target_of("http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
    const fetched got = fetch(on, to, body, {5s, 5s, 50ms, 10s});
    CHECK(got.failed.why == reason::upstream_timeout);
    CHECK(got.failed.detail == "between-bytes deadline of 0.05 s passed");
    ::close(fd);
}

TEST_CASE("a refused connection and an unknown name are connect failures") {
    bench on;
    const fetched refused = fetch(on, target_of("http://127.0.0.1:" + std::to_string(closed_port())));
    CHECK(refused.failed.why == reason::upstream_connect);
    CHECK(refused.failed.detail.find("Connection refused") != std::string::npos);
    const fetched unknown = fetch(on, target_of("http://does-not-exist.invalid:80"));
    CHECK((unknown.failed.why == reason::upstream_connect || unknown.failed.why == reason::upstream_timeout));
    CHECK(unknown.failed.detail.find("does-not-exist.invalid") != std::string::npos);
}

TEST_CASE("a slow name holds up nobody else and ends at the connect deadline") {
    fake_upstream server(answer_ok);
    bench on;
    std::mutex hold;
    std::unique_lock held(hold);
    auto slow = [&hold](const std::string& host) {
        if (host == "slow.test") const std::lock_guard wait(hold);
        net::resolution out;
        out.addresses.push_back(net::asio::ip::make_address("127.0.0.1"));
        return out;
    };
    net::resolver_of(on.context.get_executor()).use(slow);
    const client::target stuck = target_of("http://slow.test:" + std::to_string(server.port()));
    const client::target fine = target_of("http://fine.test:" + std::to_string(server.port()));
    fetched patient, good, late;
    on.spawn(fetch_into(patient, on, stuck, post(2), "{}", {.connect = 60s, .total = 60s}));
    on.spawn(fetch_into(good, on, fine, post(2), "{}", quick()));
    while (!good.complete) on.context.run_one();
    CHECK_FALSE(patient.failed);  // still waiting: the good one was not behind it
    client::timeouts limits = quick();
    limits.connect = 60ms;
    on.spawn(fetch_into(late, on, stuck, post(2), "{}", limits));
    while (!late.failed) on.context.run_one();
    CHECK(late.failed.why == reason::upstream_timeout);
    CHECK(late.failed.detail.starts_with("connect deadline of 0.06 s passed: resolve slow.test"));
    held.unlock();
    on.run();
    CHECK(patient.complete);
}

TEST_CASE("TLS: verified, refused, and with a client certificate") {
    const certificates pki;
    struct row {
        std::string_view name;
        fake_upstream_options server;
        std::string host;
        client::tls_settings settings;
        std::string_view refusal;  // part of the detail; empty: works
    };
    const fake_upstream_options plain{pki.server_certificate, pki.server_key, {}, false};
    const fake_upstream_options stranger{pki.stranger_certificate, pki.stranger_key, {}, false};
    const fake_upstream_options mutual{pki.server_certificate, pki.server_key, pki.ca_file, false};
    client::tls_settings trust, blind, named, mismatch, with_client;
    trust.ca_file = pki.ca_file;
    blind.verify = false;
    named.ca_file = pki.ca_file;
    named.server_name = "elsewhere.test";
    mismatch.ca_file = pki.server_certificate + ".missing";
    with_client.ca_file = pki.ca_file;
    with_client.certificate_file = pki.client_certificate;
    with_client.key_file = pki.client_key;
    const row rows[] = {
        {"address in the certificate", plain, "127.0.0.1", trust, ""},
        {"name in the certificate", plain, "localhost", trust, ""},
        {"unknown authority", plain, "127.0.0.1", {}, "unable to get local issuer certificate"},
        {"another name", stranger, "localhost", trust, "ostname mismatch"},
        {"another address", stranger, "127.0.0.1", trust, "IP address mismatch"},
        {"the name that the configuration says", stranger, "127.0.0.1", named, ""},
        {"verification off", stranger, "127.0.0.1", blind, ""},
        {"missing authority file", plain, "127.0.0.1", mismatch, "cannot load ca_file"},
        {"client certificate", mutual, "127.0.0.1", with_client, ""},
    };
    for (const row& r : rows) {
        CAPTURE(r.name);
        fake_upstream server(answer_ok, r.server);
        bench on;
        client::target to = target_of("https://" + r.host + ":" + std::to_string(server.port()));
        to.tls_options = r.settings;
        const fetched first = fetch(on, to, "{}", quick());
        if (r.refusal.empty()) {
            CHECK(first.failed.detail == "");
            CHECK(first.complete);
            const fetched second = fetch(on, to, "{}", quick());
            CHECK(second.complete);
            CHECK(second.reused);
        } else {
            CHECK(first.failed.why == reason::upstream_connect);
            CHECK_MESSAGE(first.failed.detail.find(r.refusal) != std::string::npos, first.failed.detail);
            CHECK(server.requests().empty());
        }
    }
    fake_upstream server(answer_ok, mutual);
    bench on;
    client::target to = target_of(server.url());
    to.tls_options = trust;
    CHECK(fetch(on, to, "{}", quick()).failed);  // TLS 1.3 tells of the missing certificate after the handshake
}

TEST_CASE("a TLS handshake that never comes ends at the connect deadline") {
    fake_upstream server([](const received_request&) { return reply{"", reply::ending::hang}; }, {.speak_first = true});
    bench on;
    client::timeouts limits = quick();
    limits.connect = 60ms;
    const fetched got = fetch(on, target_of("https://127.0.0.1:" + std::to_string(server.port())), "{}", limits);
    CHECK(got.failed.why == reason::upstream_timeout);
    CHECK(got.failed.detail.starts_with("connect deadline of 0.06 s passed"));
}

namespace {

net::task<void> hold(client::exchange& x, const client::outgoing& out, client::failure& f) {
    f = co_await x.open(out, "{}");
    if (!f) f = co_await x.read_head();
}

}  // namespace

TEST_CASE("abort ends what is pending: an answer, a handshake, a lookup") {
    std::mutex block;
    std::unique_lock held(block);
    for (const std::string_view phase : {"answer", "handshake", "lookup"}) {
        CAPTURE(phase);
        fake_upstream server([](const received_request&) { return reply{"", reply::ending::hang}; },
                             {.speak_first = phase == "handshake"});
        bench on;
        net::resolver_of(on.context.get_executor()).use([&](const std::string&) {
            const std::lock_guard wait(block);
            return net::resolution{{}, "too late"};
        });
        const std::string scheme = phase == "handshake" ? "https://" : "http://";
        const std::string host = phase == "lookup" ? "slow.test" : "127.0.0.1";
        const client::target to = target_of(scheme + host + ":" + std::to_string(server.port()));
        const client::outgoing out = post(2);
        client::failure f;
        {
            client::exchange x(on.connections, to, quick());
            on.spawn(hold(x, out, f));
            while (phase != "lookup" && server.connections() == 0) on.context.run_one_for(10ms);
            on.context.run_for(10ms);
            CHECK_FALSE(f);
            on.context.restart();
            net::asio::post(on.context, [&] { x.abort(); });
            on.run();
            CHECK(f.why == reason::client_gone);
            CHECK(f.detail == "aborted");
        }
        if (phase == "lookup") held.unlock();
        CHECK(on.connections.idle() == 0);
    }
}

namespace {

net::task<void> tunnel(bench& on, const client::target& to, std::string& got) {
    client::exchange x(on.connections, to, quick());
    client::outgoing out;
    out.method = "GET";
    out.target = "/socket";
    out.upgrade = true;
    out.upgrade_to = "websocket";
    client::failure f = co_await x.open(out, {});
    REQUIRE_FALSE(f);
    f = co_await x.read_head();
    REQUIRE_FALSE(f);
    CHECK(x.head().status == 101);
    f = co_await x.write_raw("GET / HTTP/1.1\r\n\r\n");
    REQUIRE_FALSE(f);
    for (;;) {
        std::string_view bytes;
        f = co_await x.read_raw(bytes);
        REQUIRE_FALSE(f);
        if (bytes.empty()) break;
        got.append(bytes);
    }
}

}  // namespace

TEST_CASE("after 101 the bytes are raw, both ways, and the connection is not used again") {
    fake_upstream server([](const received_request& r) {
        if (r.number == 0) {
            return reply{"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nhello "};
        }
        return reply{"world", reply::ending::fin};
    });
    bench on;
    const client::target to = target_of(server.url());
    std::string got;
    on.spawn(tunnel(on, to, got));
    on.run();
    CHECK(got == "hello world");
    CHECK(server.requests()[0].head.find("Connection: upgrade\r\nUpgrade: websocket\r\n") != std::string::npos);
    CHECK(on.connections.idle() == 0);
}
