#include "gateway/pipeline/proxy.hpp"

#include "cache/request/headers.hpp"
#include "gateway/pipeline/attempt.hpp"
#include "gateway/pipeline/forward.hpp"
#include "gateway/pipeline/gone.hpp"
#include "gateway/pipeline/tunnel.hpp"

namespace idem::gateway::pipeline {

using upstream::client::exchange;
using upstream::client::failure;
using upstream::http::body_framing;

namespace {

account account_of_proxy(const services& at, const proxy_request& r, const proxied& done) {
    account a;
    a.what = outcome::bypass;
    a.why = done.why;
    a.replica = done.replica;
    a.request_id = r.request_id;
    a.via = at.common.via;
    return a;
}

net::task<void> refuse(services& at, http::transaction& t, const proxy_request& r, proxied& done, const failure& failed,
                       std::uint32_t retry_after = 1) {
    done.why = failed.why;
    done.status = status_of(failed.why);
    std::string head;
    account a = account_of_proxy(at, r, done);
    a.retry_after = retry_after;
    append_error_head(head, done.status, a, r.expose);
    const std::string body = upstream::dialect::error_body(
        cache::split_target(t.head().target).path, done.status, failed.why,
        failed.detail.empty() ? sentence_of(failed.why) : std::string_view(failed.detail));
    if (!t.head().keep_alive) t.close_after();
    const net::error_code ec = co_await t.send(head, body);
    if (ec) done.aborted = true;
}

/// The client's body, streamed, while the answer is awaited: an upstream may answer before it has read everything, and
/// then break the write, so a failed write is not yet a failure. `broken`: why the client's body did not come whole.
net::task<void> send_body(http::transaction* t, exchange* to, const proxy_request* r, reason* broken) {
    if (!r->read.empty()) {
        const failure failed = co_await to->write_body(r->read);
        if (failed) co_return;
    }
    for (;;) {
        const http::body_piece piece = co_await t->read_body();
        if (piece.why != reason::none) {
            *broken = piece.why;
            if (!to->answered()) to->abort();
            co_return;
        }
        if (piece.bytes.empty()) break;
        const failure failed = co_await to->write_body(piece.bytes);
        if (failed) co_return;
    }
    [[maybe_unused]] const failure failed = co_await to->finish_body();
}

void append_proxied_head(std::string& head, const upstream::http::response_head& from, const account& a,
                         exposure expose, bool keep_upgrade) {
    upstream::http::append_status_line(head, from.status, from.reason_phrase);
    const std::string_view connection = from.headers.find("connection").value_or("");
    std::string_view upstream_status;
    account told = a;
    for (const auto [name, value] : from.headers) {
        if (keep_upgrade && upstream::http::iequals(name, "upgrade")) {
            upstream::http::append_field(head, name, value);
            continue;
        }
        if (upstream::http::hop_by_hop(name, connection) || upstream::http::iequals(name, "content-length")) continue;
        if (replaced(name, expose)) continue;
        if (upstream::http::iequals(name, "cache-status")) {
            upstream_status = value;
            continue;
        }
        if (upstream::http::iequals(name, "x-request-id")) told.request_id = {};
        upstream::http::append_field(head, name, value);
    }
    append_account(head, told, expose, upstream_status);
}

/// How the upstream's body broke, if it did.
net::task<failure> relay_body(http::transaction& t, exchange& from, proxied& done) {
    for (;;) {
        std::string_view bytes;
        failure failed = co_await from.read_body(bytes);
        if (failed) {
            done.why = failed.why;
            done.aborted = true;
            t.abort();  // never a clean end for an answer that broke
            co_return failed;
        }
        if (bytes.empty()) break;
        if (done.first_byte == net::time_point{}) done.first_byte = net::clock::now();
        const net::error_code ec = co_await t.write(bytes);
        if (ec) {
            done.aborted = true;
            co_return failure{};
        }
    }
    const net::error_code ec = co_await t.finish();
    if (ec) done.aborted = true;
    co_return failure{};
}

/// From the upstream's head to the end of its body.
net::task<void> answer(services& at, http::transaction& t, const proxy_request& r, attempt& opened,
                       net::time_point began, const reason& broken, proxied& done, gone_watch& watch) {
    exchange& to = *opened.opened;
    failure failed;
    if (!opened.head_read) {
        failed = co_await to.read_head();
        if (!failed) heed_retry_after(at, *r.route, *opened.replica, to.head());
    }
    if (failed) {
        if (broken != reason::none) failed = {broken, "the request body did not arrive whole"};
        watch.stop();
        report_exchange(at, *r.route, *opened.replica, 0, failed, 0);
        co_await refuse(at, t, r, done, failed);
        co_return;
    }
    const upstream::http::response_head& head = to.head();
    done.status = done.upstream_status = head.status;
    std::string text;
    const bool upgraded = head.status == 101;
    append_proxied_head(text, head, account_of_proxy(at, r, done), r.expose, upgraded);
    // A length is passed on; everything else is chunked by us, whatever framing the upstream used.
    const bool sized = head.framing == body_framing::length;
    const body_framing framing = head.framing == body_framing::none ? body_framing::none
                                 : sized                            ? body_framing::length
                                                                    : body_framing::chunked;
    const net::error_code ec = co_await t.begin(text, framing, head.length);
    if (ec) {
        done.aborted = true;
        co_return;
    }
    if (upgraded) {
        watch.stop();
        co_await tunnel(t, to);
    } else {
        failed = co_await relay_body(t, to, done);
    }
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(net::clock::now() - began);
    done.upstream_ms = static_cast<std::uint32_t>(took.count());
    report_exchange(at, *r.route, *opened.replica, head.status, failed, done.upstream_ms, {r.credential, r.proves});
}

}  // namespace

net::task<proxied> proxy(services& at, http::transaction& t, const proxy_request& r) {
    proxied done;
    done.why = r.why;
    const net::time_point began = net::clock::now();
    upstream::client::credential& own = at.common.health[r.route->upstream->index]->credential;
    upstream::client::outgoing out = outgoing_of(t.head(), own, at.common.via, false);
    if (r.changed) forget_body(out.headers);
    // A body that is here as a whole gets its length; one that still comes is framed as the client framed it.
    out.framing = r.all_read && !r.read.empty() ? body_framing::length : t.head().framing;
    if (r.all_read && r.read.empty()) out.framing = body_framing::none;
    out.length = r.all_read ? r.read.size() : t.head().length;
    if (t.head().upgrade) {
        out.upgrade = true;
        out.upgrade_to = "websocket";
    }
    const bool safe = out.method == "GET" || out.method == "HEAD" || out.method == "OPTIONS";  // RFC 9110 section 9.2.1
    live_exchange live;
    const std::string target = target_of(r.target, own);
    const attempt_order wanted{r.route,
                               sha256(r.pin),
                               out,
                               target,
                               r.all_read ? r.read : std::string_view{},
                               safe && r.all_read,
                               safe,
                               upstream::route::call_kind::sampled,
                               live,
                               r.environment,
                               r.caller};
    gone_watch watch(t, [&live] { live.abort(); });
    attempt opened = co_await open_exchange(at, wanted);
    done.retries = opened.retries;
    if (!opened.opened) {
        watch.stop();
        co_await refuse(at, t, r, done, opened.failed, opened.retry_after);
        co_return done;
    }
    exchange& to = *opened.opened;
    done.replica = opened.replica->id;
    reason broken = reason::none;
    net::task_group upload(t.where(), [](std::exception_ptr) {});
    if (!r.all_read) upload.spawn(send_body(&t, &to, &r, &broken));
    co_await answer(at, t, r, opened, began, broken, done, watch);
    // What the client has not sent by now nobody will read: the connection closes behind the answer.
    upload.cancel();
    [[maybe_unused]] const bool all = co_await upload.join();
    co_return done;
}

}  // namespace idem::gateway::pipeline
