// An answer that is cut at any byte is never taken for a whole one.
#include "tests/component/upstream/client/fetch.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/fake_upstream.hpp"

using namespace idem;
using namespace idem::test;

namespace {

const std::string json = R"({"id":"c1","object":"chat.completion","choices":[{"index":0,"message":)"
                         R"({"role":"assistant","content":"four"},"finish_reason":"stop"}]})";
const std::string events =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"four\"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: [DONE]\n\n";

std::string head_of(std::string_view type, std::string_view framing) {
    std::string out = "HTTP/1.1 200 OK\r\nContent-Type: ";
    return out.append(type).append("\r\n").append(framing).append("\r\n");
}

std::string by_length(std::string_view type, const std::string& body) {
    return head_of(type, "Content-Length: " + std::to_string(body.size()) + "\r\n") + body;
}

/// One chunk an event, as engines write them.
std::string chunked(std::string_view type, const std::string& body) {
    std::string out = head_of(type, "Transfer-Encoding: chunked\r\n");
    for (std::size_t at = 0; at < body.size();) {
        const std::size_t end = std::min(body.find("\n\n", at), body.size() - 2) + 2;
        char size[16];
        std::snprintf(size, sizeof size, "%zx\r\n", end - at);
        out.append(size).append(body, at, end - at).append("\r\n");
        at = end;
    }
    return out + "0\r\n\r\n";
}

/// Cuts `whole` before each byte; returns how many cuts were taken for a complete answer, or named wrongly.
std::size_t wrong_verdicts(const std::string& whole, std::size_t head_size, reply::ending how,
                           const fake_upstream_options& options, const client::tls_settings& tls) {
    std::atomic<std::size_t> at = 0;
    fake_upstream server([&](const received_request&) { return reply{whole.substr(0, at), how}; }, options);
    bench on;
    client::target to = target_of(server.url());
    to.tls_options = tls;
    std::size_t wrong = 0;
    for (; at < whole.size(); ++at) {
        const fetched got = fetch(on, to);
        const reason expected = at < head_size ? reason::upstream_reset : reason::framing_incomplete;
        // A reset may overtake the head on its way through the kernel.
        const bool named =
            got.failed.why == expected || (how == reply::ending::rst && got.failed.why == reason::upstream_reset);
        if (!named || got.complete || on.connections.idle() != 0) ++wrong;
    }
    how = reply::ending::keep;
    const fetched got = fetch(on, to);
    CHECK(got.complete);
    return wrong;
}

std::size_t wrong_verdicts(const std::string& whole, reply::ending how, const fake_upstream_options& options = {},
                           const client::tls_settings& tls = {}) {
    return wrong_verdicts(whole, whole.find("\r\n\r\n") + 4, how, options, tls);
}

}  // namespace

TEST_CASE("a cut at every byte of an object answer") {
    for (const reply::ending how : {reply::ending::fin, reply::ending::rst}) {
        CHECK(wrong_verdicts(by_length("application/json", json), how) == 0);
        CHECK(wrong_verdicts(chunked("application/json", json), how) == 0);
    }
}

TEST_CASE("a cut at every byte of an event stream") {
    for (const reply::ending how : {reply::ending::fin, reply::ending::rst}) {
        CHECK(wrong_verdicts(chunked("text/event-stream", events), how) == 0);
        CHECK(wrong_verdicts(by_length("text/event-stream", events), how) == 0);
    }
}

TEST_CASE("a cut at every byte inside TLS, with and without close_notify") {
    const certificates pki;
    const fake_upstream_options options{pki.server_certificate, pki.server_key, {}, false};
    client::tls_settings trust;
    trust.ca_file = pki.ca_file;
    for (const reply::ending how : {reply::ending::fin, reply::ending::fin_bare, reply::ending::rst}) {
        CHECK(wrong_verdicts(chunked("application/json", "{\"n\":1}"), how, options, trust) == 0);
    }
}

TEST_CASE("a close-delimited body is only as whole as its end is orderly") {
    const certificates pki;
    const std::string whole = head_of("application/json", "Connection: close\r\n") + json;
    client::tls_settings trust;
    trust.ca_file = pki.ca_file;
    struct row {
        bool tls;
        reply::ending how;
        bool complete;
    };
    for (const row& r : {row{false, reply::ending::fin, true}, row{false, reply::ending::rst, false},
                         row{true, reply::ending::fin, true}, row{true, reply::ending::fin_bare, false}}) {
        fake_upstream_options options;
        if (r.tls) options = {pki.server_certificate, pki.server_key, {}, false};
        fake_upstream server([&](const received_request&) { return reply{whole, r.how}; }, options);
        bench on;
        client::target to = target_of(server.url());
        to.tls_options = trust;
        const fetched got = fetch(on, to);
        CHECK(got.complete == r.complete);
        CHECK(got.framing == (got.status == 0 ? http::body_framing::none : http::body_framing::close_delimited));
        if (r.complete) CHECK(got.body == json);
        if (!r.complete && got.status != 0) CHECK(got.failed.why == reason::framing_incomplete);
        CHECK(on.connections.idle() == 0);
    }
}
