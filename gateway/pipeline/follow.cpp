#include "gateway/pipeline/follow.hpp"

#include <algorithm>

#include "gateway/pipeline/receipt.hpp"

namespace idem::gateway::pipeline {

using cache::conclusion;
using cache::follower;
using upstream::dialect::form;

namespace {

/// The account that every answer of this flight begins with.
account begin_account(const follow_request& r, const followed& f) {
    account a;
    a.what = f.what;
    a.why = f.why;
    a.key = &r.order->key;
    a.request = &r.order->request;
    a.epoch = &r.order->epoch;
    a.request_id = r.request_id;
    a.id_field = r.order->api->request_id_field();
    a.via = r.via;
    a.cors = r.cors;
    return a;
}

/// How far this follower may forward now, and from where: whole events only, and around the usage event, if the usage
/// is hidden from it.
struct span {
    std::uint64_t from = 0, to = 0;
};
span next_span(const follower::view& v, std::uint64_t at, bool hidden) {
    if (!hidden) return {at, v.size};
    std::uint64_t to = v.ended ? v.size : v.boundary;
    if (v.usage_event) {
        const std::uint64_t begin = v.usage_event->offset;
        const std::uint64_t end = begin + v.usage_event->size;
        if (at >= begin && at < end) at = end;
        if (at < begin) to = std::min(to, begin);
    }
    return {at, std::max(at, to)};
}

/// The client left, or was cut for being slow: whatever became of the answer, this is how its own call ended.
void lose_client(followed& f) {
    f.aborted = true;
    f.why = reason::client_gone;
}

/// Most clients take a clean end without a terminal marker for a complete answer, so a broken stream says so twice:
/// with the dialect's error event, and with a connection that breaks.
net::task<void> abort_stream(http::transaction& to, const follow_request& r, const follower::view& v, reason why) {
    if (!is_object(v.head->form)) {
        std::string event = r.order->api->error_event(why, sentence_of(why));
        // Behind a piece of an event or line it would be read as part of that one.
        if (v.boundary != v.size) event.insert(0, v.head->form == form::sse ? "\n\n" : "\n");
        [[maybe_unused]] const net::error_code ec = co_await to.write(event);
    }
    to.abort();
}

net::task<void> stream(http::transaction& to, follower& place, const follow_request& r, followed& f) {
    const auto first = place.look();
    const bool hidden = first.head->hides_usage && !r.wants.usage;
    f.status = first.head->status;
    f.replica = first.head->replica;
    f.upstream_status = first.head->status;
    std::uint64_t at = 0;
    for (;;) {
        const follower::view v = place.look();
        if (place.interrupted() || v.cut) {
            lose_client(f);
            to.abort();
            co_return;
        }
        const span s = next_span(v, at, hidden);
        at = s.from;
        if (s.to > at || v.ended) {
            if (!to.begun()) {
                // The 200 waited for the first byte, so a failure before it still had a status to be told with.
                f.first_byte = net::clock::now();
                account a = begin_account(r, f);
                if (a.why == reason::none) a.why = v.head->refused;
                a.replica = v.head->replica;
                a.took_us = elapsed_us(r.started, f.first_byte);
                std::string head;
                head.reserve(1024);
                append_relayed_head(head, *v.head, r.leads, a, r.expose);
                const net::error_code ec = co_await to.begin(head, upstream::http::body_framing::chunked, 0);
                if (ec) {
                    lose_client(f);
                    co_return;
                }
            }
            while (at < s.to) {
                const std::string_view piece = place.bytes(at, s.to);
                const net::error_code ec = co_await to.write(piece);
                if (ec) {
                    lose_client(f);
                    co_return;
                }
                at += piece.size();
                place.advance(at);
            }
            if (v.ended && next_span(v, at, hidden).to == at) break;
            continue;
        }
        co_await place.wait(v.version);
    }
}

/// Trailers say what was not known when the head went out.
std::string trailers_of(const conclusion& end) {
    std::string lines;
    if (end.answer) {
        lines += "Idem-Digest: " + to_hex(end.answer->output.bytes) + "\r\nIdem-Guarantee: ";
        upstream::determinism::append(lines, end.answer->promise);
        lines += "\r\n";
        lines += end.stored ? "Cache-Status: idem; fwd=miss; stored\r\n" : "Cache-Status: idem; fwd=miss\r\n";
    }
    return lines;
}

net::task<void> await_end(follower& place) {
    follower::view v = place.look();
    while (!v.end && !place.interrupted()) {
        co_await place.wait(v.version);
        v = place.look();
    }
}

net::task<void> end_stream(http::transaction& to, follower& place, const follow_request& r, followed& f) {
    follower::view v = place.look();
    if (!*v.ended) {
        f.aborted = true;
        f.why = v.broke;
        co_await abort_stream(to, r, v, f.why);
        co_return;
    }
    std::string trailers;
    if (r.trailers) {
        co_await await_end(place);
        v = place.look();
        if (v.end) trailers = trailers_of(*v.end);
        if (v.end && v.end->answer && r.receipts) {
            const std::string receipt = co_await receipt_field(*r.receipts, v.end->answer);
            if (!receipt.empty()) trailers += "Idem-Receipt: " + receipt + "\r\n";
        }
    }
    const net::error_code ec = co_await to.finish(trailers);
    if (ec) lose_client(f);
}

net::task<void> send_error(http::transaction& to, const follow_request& r, followed& f, unsigned status,
                           std::string_view detail, std::uint32_t retry_after) {
    f.status = status;
    account a = begin_account(r, f);
    a.retry_after = retry_after;
    a.took_us = elapsed_us(r.started, net::clock::now());
    std::string head;
    append_error_head(head, status, a, r.expose);
    const std::string body = r.order->api->error_body(status, f.why, detail.empty() ? sentence_of(f.why) : detail);
    const net::error_code ec = co_await to.send(head, body);
    if (ec) lose_client(f);
}

/// The whole answer is known.
net::task<void> send_answer(http::transaction& to, const follow_request& r, followed& f,
                            const cache::answer_head* head_seen, const conclusion& end) {
    f.answer = end.answer;
    presented shown = present(end.answer, *r.order->api, r.wants);
    if (shown.lossy) {
        f.lossy = true;
        f.why = reason::form_lossy;
        co_return;
    }
    const net::time_point now = net::clock::now();
    f.first_byte = now;
    f.status = 200;
    f.replica = end.answer->replica;
    account a = account_of(*end.answer, unix_ms_now());
    a.what = f.what;
    a.why = f.why;
    a.epoch = &r.order->epoch;
    a.request_id = r.request_id;
    a.id_field = r.order->api->request_id_field();
    a.via = r.via;
    a.cors = r.cors;
    a.took_us = elapsed_us(r.started, now);
    a.upstream_ms = end.upstream_ms;
    std::string receipt;
    if (r.receipts) receipt = co_await receipt_field(*r.receipts, end.answer);
    a.receipt = receipt;
    std::string head;
    head.reserve(1024);
    if (f.what == outcome::hit) {
        a.tier = f.tier;
        append_hit_head(head, *end.answer, shown.content_type, a, r.expose);
    } else {
        a.age_s.reset();
        if (!end.stored) a.ttl_s.reset();
        a.stored = end.stored;
        if (!head_seen || !shown.content_type.empty() || end.answer->created == 0) {
            append_hit_head(head, *end.answer, shown.content_type, a, r.expose);
        } else {
            append_relayed_head(head, *head_seen, r.leads, a, r.expose);
        }
    }
    std::string joined;
    std::string_view body = shown.pieces[0];
    if (!shown.pieces[1].empty()) {
        joined.append(shown.pieces[0]).append(shown.pieces[1]).append(shown.pieces[2]);
        body = joined;
    }
    const net::error_code ec = co_await to.send(head, body);
    if (ec) lose_client(f);
}

/// An upstream's error, or an object that may not be judged, held until it was whole.
net::task<void> send_held(http::transaction& to, follower& place, const follow_request& r, followed& f,
                          const follower::view& v) {
    f.status = v.head->status;
    f.replica = v.head->replica;
    f.first_byte = net::clock::now();
    account a = begin_account(r, f);
    a.replica = v.head->replica;
    a.took_us = elapsed_us(r.started, f.first_byte);
    std::string head;
    append_relayed_head(head, *v.head, r.leads, a, r.expose);
    std::string body;
    while (body.size() < v.size) body += place.bytes(body.size(), v.size);
    const net::error_code ec = co_await to.send(head, body);
    if (ec) lose_client(f);
}

/// Whether the answer that a flight ended with is the one in the store: its own, or that of a writer who was first.
bool is_stored(const conclusion& end) {
    return end.from == conclusion::source::found || end.stored || end.why == reason::lost_race ||
           end.why == reason::lost_race_differs;
}

}  // namespace

net::task<followed> follow(http::transaction& to, follower& place, const follow_request& r) {
    followed f;
    f.what = r.leads ? outcome::miss : outcome::coalesced;
    f.why = r.order->refresh != reason::none ? r.order->refresh : r.order->keep_out;
    // Who comes when all bytes are here has not waited for them: the store is about to say which answer is the stored
    // one, and that one is a hit.
    const bool late = !r.leads && place.look().ended == true;
    for (;;) {
        const follower::view v = place.look();
        if (place.interrupted() || v.cut) {
            lose_client(f);
            to.abort();
            co_return f;
        }
        // A stream in the form that was asked for, or something too large to be held: forward it as it comes.
        const bool same_form = v.head && v.head->form == r.wants.form;
        const bool streams = same_form && (v.head->as_stream || v.overflowed);
        if (v.overflowed && !same_form) {
            f.lossy = true;
            f.why = reason::form_lossy;
            co_return f;
        }
        const bool found = v.end && v.end->from == conclusion::source::found;
        const bool from_log = !late || (v.end && !v.end->answer);
        // One that broke before its first byte can still be told with a status.
        if (streams && !found && from_log && (v.size > 0 || v.ended == true)) {
            co_await stream(to, place, r, f);
            if (!f.aborted) co_await end_stream(to, place, r, f);
            // The client has all of it; what it was is known a moment later, and a receipt policy writes that down.
            if (!f.aborted && r.order->route->policy->settings->receipts) co_await await_end(place);
            if (const auto last = place.look(); last.end) {
                f.answer = last.end->answer;
                f.upstream_ms = last.end->upstream_ms;
                f.retries = last.end->retries;
                if (f.why == reason::none) f.why = last.end->why;
            }
            co_return f;
        }
        if (v.end) {
            const conclusion& end = *v.end;
            f.upstream_ms = end.upstream_ms;
            f.upstream_status = end.upstream_status;
            f.retries = end.retries;
            if (end.answer && (found || (late && is_stored(end)))) {
                f.what = outcome::hit;
                f.tier = found ? end.tier : "memory";
            } else if (f.why == reason::none) {
                f.why = end.why;
            }
            f.stored = found || end.stored;
            // Whole, but of no use to who asked for another form: it is fetched in that one.
            if (!end.answer && v.head && end.clean && v.head->status == 200 && !same_form) {
                f.lossy = true;
                f.why = reason::form_lossy;
                co_return f;
            }
            if (end.answer)
                co_await send_answer(to, r, f, v.head, end);
            else if (v.head && end.clean)
                co_await send_held(to, place, r, f, v);
            else
                co_await send_error(to, r, f, end.error_status, end.detail, end.retry_after);
            co_return f;
        }
        co_await place.wait(v.version);
    }
}

}  // namespace idem::gateway::pipeline
