#include "gateway/admin/endpoint.hpp"

#include <boost/json.hpp>
#include <chrono>

#include "gateway/admin/body.hpp"
#include "gateway/admin/purge_request.hpp"
#include "gateway/admin/render.hpp"
#include "gateway/observe/log.hpp"

namespace idem::gateway::admin {

namespace net = http::net;

namespace {

cache::unix_ms wall_now() {
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

// Up to the cap; most requests of this API have no body that means anything.
net::task<reason> read_body(http::transaction& t, std::string& into) {
    while (true) {
        const http::body_piece piece = co_await t.read_body();
        if (piece.why != reason::none) co_return piece.why;
        if (piece.bytes.empty()) co_return reason::none;
        if (into.size() + piece.bytes.size() > body_cap) co_return reason::body_too_large;
        into.append(piece.bytes);
    }
}

}  // namespace

bool endpoint::answer_at_once(const http::request_head&, std::string_view, const http::peer&, net::time_point,
                              http::quick_reply&) {
    return false;
}

void endpoint::done(const http::quick_reply&, std::uint64_t, std::uint64_t, net::error_code) {}

net::task<void> endpoint::serve(http::transaction& t) {
    decision d = decide(t.head(), rules_);
    std::string client = t.client().address.to_string();
    response r;
    reason why = reason::none;
    std::string body;
    if (t.head().framing != http::body_framing::none) why = co_await read_body(t, body);
    if (why == reason::body_too_large) {
        t.close_after();
        r = problem(413, "a request of this API is at most 64 KiB");
    } else if (why != reason::none) {
        t.abort();
        co_return;
    } else {
        r = co_await answer(std::move(d), std::move(client), std::move(body));
    }
    const std::string head = head_of(r);
    const auto ec = co_await t.send(head, r.body);
    if (ec) t.abort();
}

net::task<response> endpoint::answer(decision d, std::string client, std::string body) {
    response r;
    switch (d.what) {
        case decision::task::refuse:
            r = std::move(d.refusal);
            break;
        case decision::task::livez:
            r = {.content_type = "text/plain; charset=utf-8", .body = "ok\n"};
            break;
        case decision::task::readyz:
            r = render_ready(view_.ready(), d.verbose);
            break;
        case decision::task::metrics:
            r = render_metrics(view_.metrics(d.open_metrics), d.open_metrics);
            break;
        case decision::task::stats:
            r = {.body = boost::json::serialize(view_.stats()) + "\n"};
            break;
        case decision::task::replicas:
            r = {.body = boost::json::serialize(view_.replicas()) + "\n"};
            break;
        case decision::task::divergences:
            r = {.body = boost::json::serialize(view_.divergences()) + "\n"};
            break;
        case decision::task::epochs:
            r = {.body = boost::json::serialize(view_.epochs_list()) + "\n"};
            break;
        case decision::task::order: {
            const std::string what = d.action + " " + d.replica + (d.upstream.empty() ? "" : " of " + d.upstream);
            const order_result o = co_await view_.order(d.upstream, d.replica, d.action);
            r = render_order(o);
            observe::log(observe::level::info, "admin_order", what + " by " + client + ": " + std::to_string(r.status));
            break;
        }
        case decision::task::open_epoch: {
            constexpr std::string_view wanted[] = {"upstream", "reason"}, optional[] = {"replica"};
            text_members asked = read_texts(body, wanted, optional);
            if (!asked.error.empty()) {
                r = problem(400, asked.error);
                break;
            }
            const std::string& upstream = asked.of["upstream"];
            const order_result o = co_await view_.open_epoch(upstream, asked.of["reason"], asked.of["replica"]);
            r = render_order(o);
            observe::log(observe::level::info, "admin_epoch",
                         upstream + " by " + client + ": " + std::to_string(r.status));
            break;
        }
        case decision::task::activate_epoch: {
            const order_result o = co_await view_.activate_epoch(d.epoch);
            r = render_order(o);
            observe::log(observe::level::info, "admin_epoch",
                         "back to " + to_hex(d.epoch.bytes) + " by " + client + ": " + std::to_string(r.status));
            break;
        }
        case decision::task::purge:
        case decision::task::erase_all:
            r = co_await purge(d.what == decision::task::erase_all, std::move(client), std::move(body));
            break;
        case decision::task::drift: {
            const drift_found f = co_await view_.drift(d.before, d.after);
            r = render_drift(f, d.before, d.after);
            break;
        }
        case decision::task::receipt: {
            found_receipt f = co_await view_.receipt(d.key, d.fill);
            r = f.status == 200 ? response{.body = std::move(f.text)} : problem(f.status, f.text);
            break;
        }
        case decision::task::list: {
            const entry_list l = co_await view_.list(std::move(d.wanted));
            r = render_list(l, wall_now());
            break;
        }
        case decision::task::find: {
            const found f = co_await view_.find(d.key);
            r = render_found(f, d.with_body, wall_now());
            if (d.with_body && r.status == 200) {
                observe::log(observe::level::info, "admin_read_body", to_hex(d.key.value.bytes) + " by " + client);
            }
            break;
        }
        case decision::task::erase: {
            const erased e = co_await view_.erase(d.key);
            r = render_erased(e);
            observe::log(observe::level::info, "admin_erase",
                         to_hex(d.key.value.bytes) + " by " + client + ": " + std::to_string(r.status));
            break;
        }
    }
    co_return r;
}

net::task<response> endpoint::purge(bool erase, std::string client, std::string body) {
    purge_request asked = read_purge(body, wall_now());
    if (!asked.error.empty()) co_return problem(400, asked.error);
    const std::string what = std::string(to_string(asked.kind)) + (asked.value.empty() ? "" : " " + asked.value);
    order_result o;
    if (asked.dry_run)
        o = co_await view_.reach(asked.kind, asked.value);
    else if (erase)
        o = co_await view_.erase_all(asked.kind, asked.value);
    else
        o = co_await view_.purge(asked.kind, asked.value);
    response r = render_order(o);
    if (asked.dry_run) co_return r;
    observe::log(observe::level::info, erase ? "admin_erase" : "admin_purge",
                 what + " by " + client + ": " + std::to_string(r.status));
    co_return r;
}

std::string endpoint::refused(const http::request_head&, const http::peer&, unsigned status, reason,
                              std::string_view detail) {
    return problem(status, detail).body;
}

}  // namespace idem::gateway::admin
