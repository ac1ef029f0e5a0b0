#include "gateway/pipeline/front.hpp"

#include "gateway/pipeline/again.hpp"
#include "gateway/pipeline/attempt.hpp"
#include "gateway/pipeline/bind.hpp"
#include "gateway/pipeline/forward.hpp"
#include "gateway/pipeline/gone.hpp"
#include "gateway/pipeline/order.hpp"
#include "gateway/pipeline/present.hpp"
#include "gateway/pipeline/receipt.hpp"
#include "gateway/pipeline/reply.hpp"
#include "gateway/pipeline/seat.hpp"
#include "gateway/pipeline/second_tier.hpp"
#include "gateway/pipeline/unproxied.hpp"

namespace idem::gateway::pipeline {

using upstream::http::body_framing;

/// What is known of a request while serve() works on it; told at the end, whatever the end is.
struct front::visit {
    http::transaction& t;
    services& at;
    request_ids::id id;
    std::string replica;  // end.replica views it
    finished end;

    visit(services& s, http::transaction& transaction, request_ids::id minted) : t(transaction), at(s), id(minted) {
        end.request_id = view(id);
        end.method = t.head().method;
        end.target = t.head().target;
        end.client = &t.client();
        end.started = t.started();
    }
    ~visit() {
        end.bytes_in = t.bytes_in();
        end.bytes_out = t.bytes_out();
        report(at, end);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    [[nodiscard]] exposure expose() const noexcept { return at.common.plan.settings().listen.expose; }
};

front::front(services& at) : at_(at), preparer_(at.common) {}

bool front::answer_at_once(const http::request_head& head, std::string_view body, const http::peer& client,
                           net::time_point started, http::quick_reply& out) {
    worked_out_ = nullptr;
    if (head.upgrade || !upstream::dialect::find(head.method, path_of(head.target))) return false;
    if (preparer_.admit(head, client).refuse != reason::none) return false;
    const std::int64_t now = unix_ms_now();
    worked_out_ = &preparer_.prepare(head, body, client);
    worked_out_for_ = &head;
    const prepared& p = *worked_out_;
    if (p.what != prepared::kind::call || p.refresh != reason::none || p.idempotency || p.items ||
        p.keep_out == reason::origin_unknown || receipt_wanted(at_.common, *p.route, head.headers))
        return false;
    held_answer held = held_now(at_.common, p.key, now);
    cache::entry_ptr& e = held.value;
    if (!e || !p.satisfied_by(*e, now)) return false;
    presented shown = present(e, *p.api, p.wants);
    if (shown.lossy) return false;

    const std::uint64_t token = pending_.take();
    pending_lines::slot& line = pending_[token];
    line.id = ids_.next();
    line.method = head.method;
    line.target = head.target;
    line.client = client;
    line.api = p.api;
    line.route = p.route;
    line.stream = !is_object(p.wants.form);
    line.started = started;
    line.first_byte = net::clock::now();

    account a = p.account_of_hit(*e, now, "memory", view(line.id), at_.common.via);
    tell_blind(at_, held, a);
    a.took_us = elapsed_us(started, line.first_byte);
    out.head.clear();
    append_hit_head(out.head, *e, shown.content_type, a, at_.common.plan.settings().listen.expose);
    out.body = shown.pieces;
    out.keep = std::move(shown.keep);
    out.token = token;
    if (run_again(at_, *p.route, p.keep_out)) leave_hit(at_, preparer_, head, p, body, e);
    line.answer = std::move(e);
    worked_out_ = nullptr;
    preparer_.remember(body);
    return true;
}

void front::done(const http::quick_reply& reply, std::uint64_t bytes_in, std::uint64_t bytes_out, net::error_code ec) {
    pending_lines::slot& line = pending_[reply.token];
    finished f;
    f.request_id = view(line.id);
    f.method = line.method;
    f.target = line.target;
    f.client = &line.client;
    f.api = line.api;
    f.route = line.route;
    f.model = line.answer->model;
    f.stream = line.stream;
    f.what = outcome::hit;
    f.tier = "memory";
    f.key = &line.answer->key;
    f.replica = line.answer->replica;
    f.status = 200;
    f.written(ec);
    f.bytes_in = bytes_in;
    f.bytes_out = bytes_out;
    f.started = line.started;
    f.first_byte = line.first_byte;
    f.answer = line.answer;
    report(at_, f);
    pending_.give_back(reply.token);
}

net::task<void> front::serve(http::transaction& t) {
    // Nothing else ran since answer_at_once() returned false for this very head.
    std::optional<prepared> early;
    if (worked_out_ && worked_out_for_ == &t.head()) early = preparer_.take(*worked_out_);
    worked_out_ = nullptr;

    visit v(at_, t, ids_.next());
    const http::request_head& head = t.head();
    const doorkeeping door = preparer_.admit(head, t.client());
    if (door.refuse != reason::none) {
        co_await serve_error(v, status_of(door.refuse), door.refuse, door.detail);
        co_return;
    }
    const auto* api = head.upgrade ? nullptr : upstream::dialect::find(head.method, path_of(head.target));
    v.end.api = api;
    if (!api) {
        co_await serve_proxy(v, {}, false, reason::not_cacheable_path);
        co_return;
    }
    const std::uint64_t cap = at_.common.plan.settings().listen.body;
    if (head.framing == body_framing::length && head.length > cap) {
        co_await serve_proxy(v, {}, false, reason::body_too_large);
        co_return;
    }
    std::string body;
    body_budget::share held(at_.common.bodies);
    // Not the whole length at once: it is only claimed yet.
    if (head.framing == body_framing::length)
        body.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(head.length, 256 * 1024)));
    for (;;) {
        const http::body_piece piece = co_await t.read_body();
        if (piece.why != reason::none) {
            v.end.aborted = true;
            co_await serve_error(v, status_of(piece.why), piece.why, "the request body did not arrive whole");
            co_return;
        }
        if (piece.bytes.empty()) break;
        body.append(piece.bytes);
        const bool room = held.grow(piece.bytes.size());
        if (!room || body.size() > cap) {
            co_await serve_proxy(v, body, false, room ? reason::body_too_large : reason::bodies_too_many);
            co_return;
        }
    }
    prepared p;
    if (early)
        p = std::move(*early);
    else
        p = preparer_.prepare(head, body, t.client());
    v.end.route = p.route;
    if (p.api) v.end.api = api = p.api;  // of a shared path the body has told which
    v.end.model = p.call.model;
    v.end.stream = !is_object(p.wants.form);
    if (p.what == prepared::kind::refuse)
        co_await serve_error(v, p.status, p.why, p.detail);
    else if (p.what == prepared::kind::proxy) {
        auto changed = preparer_.forwarded(p, head, body);
        p.body_differs = changed.has_value();
        if (changed) body = std::move(*changed);
        co_await serve_proxy(v, body, true, p.why, &p);
    } else
        co_await serve_call(v, p, std::move(body));
}

net::task<void> front::serve_error(visit& v, unsigned status, reason why, std::string_view detail) {
    account a;
    a.what = why == reason::only_if_cached || why == reason::offline ? outcome::miss : outcome::bypass;
    a.why = why;
    a.request_id = view(v.id);
    if (v.end.api) a.id_field = v.end.api->request_id_field();
    a.via = at_.common.via;
    const auto cors = preparer_.cors_of(v.t.head(), v.end.route);  // errors of ours have to be readable too
    if (cors) a.cors = *cors;
    std::string head;
    append_error_head(head, status, a, v.expose());
    if (detail.empty()) detail = sentence_of(why);
    const std::string body = v.end.api ? v.end.api->error_body(status, why, detail)
                                       : upstream::dialect::error_body(path_of(v.t.head().target), status, why, detail);
    v.end.status = status;
    v.end.what = a.what;
    v.end.why = why;
    // Whatever of the body has not been read stays unread: the connection cannot be used for another request.
    if (v.end.aborted || !v.end.api) v.t.close_after();
    const net::error_code ec = co_await v.t.send(head, body);
    v.end.aborted = v.end.aborted || ec;
}

net::task<void> front::serve_proxy(visit& v, std::string_view read, bool all_read, reason why, const prepared* known) {
    const http::request_head& head = v.t.head();
    if (!v.end.route)
        v.end.route = at_.common.plan.match({path_of(head.target), v.end.model, v.end.api, read}, head.headers);
    if (!v.end.route) {
        co_await serve_error(v, 404, reason::no_route, {});
        co_return;
    }
    refusal refused;
    if (known)
        refused.why = v.end.route->offline ? reason::offline : reason::none;
    else
        refused = unproxied(at_.common.plan, *v.end.route, head, v.end.api, why);
    if (refused.why != reason::none) {
        if (!all_read && head.framing != body_framing::none) v.t.close_after();
        co_await serve_error(v, status_of(refused.why), refused.why, refused.detail);
        co_return;
    }
    proxy_request r;
    r.route = v.end.route;
    r.pin = head.target;
    r.target = known && !known->target.empty() ? std::string_view(known->target) : head.target;
    r.read = read;
    r.all_read = all_read || head.framing == body_framing::none;
    r.why = why;
    r.expose = v.expose();
    r.request_id = view(v.id);
    r.changed = known && known->body_differs;
    if (known && known->held_to_rules && r.route->policy->demands == upstream::determinism::demand::admitted)
        r.environment = known->epoch.environment;
    if (at_.common.limits.limited()) r.caller = preparer_.caller_of(head, v.t.client());
    if (known && known->checks_proof) {
        r.credential = known->credential;
        r.proves = known->proves;
    }
    const proxied done = co_await proxy(at_, v.t, r);
    // A refusal closes the credential's scope whatever the call was.
    if (!r.credential && (done.upstream_status == 401 || done.upstream_status == 403))
        report_refusal(at_, *v.end.route, preparer_.credential_of(v.t.head(), v.t.client()));
    v.end.status = done.status;
    v.end.what = outcome::bypass;
    v.end.why = done.why;
    v.end.aborted = done.aborted;
    v.end.first_byte = done.first_byte;
    v.replica = done.replica;
    v.end.replica = v.replica;
    v.end.upstream_status = done.upstream_status;
    v.end.upstream_ms = done.upstream_ms;
    v.end.retries = done.retries;
}

net::task<void> front::serve_call(visit& v, prepared& p, std::string body) {
    v.end.key = &p.key;
    const std::int64_t now = unix_ms_now();
    if (p.idempotency) {
        const reason why = co_await bind_request(at_, *p.idempotency, p.request);
        if (why != reason::none) {
            co_await serve_error(v, status_of(why), why, {});
            co_return;
        }
    }
    if (p.holds_too_old(at_.common.memory, now)) p.refresh = reason::max_age_exceeded;
    while (p.readable() && p.refresh == reason::none && !p.items) {
        std::string_view tier = "memory";
        const held_answer found = co_await stored_answer(p, now, tier);
        const cache::entry_ptr& e = found.value;
        if (!e) break;
        if (!present(e, *p.api, p.wants).lossy) {
            if (run_again(at_, *p.route, p.keep_out)) leave_hit(at_, preparer_, v.t.head(), p, body, e);
            co_await serve_stored(v, p, found, tier);
            co_return;
        }
        p.stand_beside(*e);  // once: what stands there has the wanted form
    }
    if (p.controls.only_if_cached && (!p.items || p.refresh != reason::none))
        co_return co_await serve_error(v, 504, p.route->offline ? reason::offline : reason::only_if_cached, {});
    co_await serve_flight(v, p, std::move(body));
}

// The live answer that this caller may be given, of the memory tier; of the second one too where nothing may be
// computed.
net::task<held_answer> front::stored_answer(prepared& p, std::int64_t now, std::string_view& tier) {
    held_answer found = co_await held(at_, p.key, now);
    cache::entry_ptr& e = found.value;
    if (!e && p.controls.only_if_cached && at_.common.second) {
        const checked_lookup looked = co_await find_stored(at_.common, p.key, now);
        const cache::lookup& got = looked.got;
        if (got.status == cache::lookup_status::found && got.value->request == p.request) {
            e = got.value;  // not into the memory tier: its key may have been deleted since it was read
            tier = at_.common.second->name();
        }
    }
    if (e && p.beside && e->output != *p.beside) e = nullptr;  // beside another answer than today's
    if (e && !p.satisfied_by(*e, now)) {
        p.refresh = reason::max_age_exceeded;
        e = nullptr;
    }
    co_return found;
}

net::task<void> front::serve_stored(visit& v, const prepared& p, const held_answer& found, std::string_view tier) {
    const cache::entry_ptr& e = found.value;
    const presented shown = present(e, *p.api, p.wants);
    v.end.first_byte = net::clock::now();
    account a = p.account_of_hit(*e, unix_ms_now(), tier, view(v.id), at_.common.via);
    a.took_us = elapsed_us(v.t.started(), v.end.first_byte);
    tell_blind(at_, found, a);
    std::string receipt;
    if (receipts::book* from = receipt_wanted(at_.common, *p.route, v.t.head().headers))
        receipt = co_await receipt_field(*from, e);
    a.receipt = receipt;
    std::string head;
    append_hit_head(head, *e, shown.content_type, a, v.expose());
    std::string body;
    body.reserve(shown.size());
    for (std::string_view piece : shown.pieces) body += piece;
    v.end.what = outcome::hit;
    v.end.tier = tier;
    v.end.answer = e;
    v.end.status = 200;
    v.end.replica = e->replica;
    const net::error_code ec = co_await v.t.send(head, body);
    v.end.written(ec);
}

net::task<void> front::serve_flight(visit& v, prepared& p, std::string body) {
    bool alone = p.lone();
    for (;;) {
        cache::flight_table::joined seat = take_seat(at_, p, alone);
        cache::follower& place = *seat.place;
        gone_watch watch(v.t, [&place] { place.interrupt(); });
        place.on_cut([&t = v.t] { t.abort(); });
        if (seat.leads) {
            auto changed = preparer_.forwarded(p, v.t.head(), body);
            auto order = changed ? make_order(at_, v.t.head(), p, std::move(*changed), true)
                                 : make_order(at_, v.t.head(), p, body, false);
            if (at_.common.limits.limited()) order->caller = preparer_.caller_of(v.t.head(), v.t.client());
            at_.fills.spawn(run_fill(at_, place.of().shared_from_this(), std::move(order)));
        }
        const asked call = p.as_asked();
        follow_request r;
        r.order = &call;
        r.wants = p.wants;
        r.leads = seat.leads;
        r.trailers = upstream::http::list_has(v.t.head().headers.find("te").value_or(""), "trailers");
        r.expose = v.expose();
        r.receipts = receipt_wanted(at_.common, *p.route, v.t.head().headers);
        r.request_id = view(v.id);
        r.via = at_.common.via;
        if (p.cors) r.cors = *p.cors;
        r.started = v.t.started();
        followed f = co_await follow(v.t, place, r);
        if (f.lossy && !alone) {
            // That form cannot become the wanted one, which is fetched too: to stand beside it, or for this caller
            // alone.
            if (f.stored && !p.beside) {
                p.stand_beside(*f.answer);
            } else {
                p.keep_out = reason::form_lossy;
                alone = true;
            }
            continue;
        }
        v.end.what = f.what;
        v.end.why = f.why;
        v.end.status = f.status;
        v.end.aborted = f.aborted;
        v.end.first_byte = f.first_byte;
        v.replica = std::move(f.replica);
        v.end.replica = v.replica;
        v.end.answer = f.answer;
        v.end.tier = f.tier;
        v.end.upstream_status = f.upstream_status;
        v.end.upstream_ms = f.upstream_ms;
        v.end.retries = f.retries;
        co_return;
    }
}

std::string front::refused(const http::request_head& head, const http::peer& client, unsigned status, reason why,
                           std::string_view detail) {
    const request_ids::id id = ids_.next();
    finished f;
    f.request_id = view(id);
    f.method = head.method;
    f.target = head.target;
    f.client = &client;
    f.status = status;
    f.why = why;
    f.started = net::clock::now();
    report(at_, f);
    return upstream::dialect::error_body(path_of(head.target), status, why, detail.empty() ? sentence_of(why) : detail);
}

}  // namespace idem::gateway::pipeline
