#include "gateway/pipeline/ask.hpp"

#include "gateway/pipeline/attempt.hpp"
#include "gateway/pipeline/keep.hpp"
#include "gateway/pipeline/reply.hpp"
#include "gateway/pipeline/storable.hpp"
#include "gateway/pipeline/vouch.hpp"

namespace idem::gateway::pipeline {

using cache::conclusion;
using cache::flight;
using upstream::dialect::form;
using upstream::route::call_kind;

namespace {

cache::answer_head relayed_head(const upstream::http::response_head& from, const fill_order& order,
                                const head_verdict& judged, std::string_view replica) {
    cache::answer_head head;
    head.status = from.status;
    head.form = judged.form;
    head.replica = replica;
    head.refused = judged.refuse;
    head.canonical_size = order.canonical_size;
    const std::string_view connection = from.headers.find("connection").value_or("");
    for (const auto [name, value] : from.headers) {
        if (upstream::http::hop_by_hop(name, connection) || upstream::http::iequals(name, "content-length")) continue;
        if (upstream::http::iequals(name, "content-type")) {
            head.content_type = value;
        } else {
            head.headers.emplace_back(name, value);
        }
    }
    // Errors and objects are held until they are whole; what is neither is passed on as it comes.
    const bool expected = judged.refuse != reason::status_not_ok && judged.refuse != reason::unexpected_content_type;
    const bool object = expected ? is_object(judged.form) : head.status != 200;
    head.as_stream = !object;
    head.hides_usage = order.hides_usage && judged.refuse == reason::none && judged.form == form::sse;
    return head;
}

struct received {
    answer_facts facts;
    bool abandoned = false;
    upstream::client::failure broke;
};

// Reads the body into the flight. The watcher sees every byte before any follower does.
net::task<received> receive(services& at, flight& into, flight& callers, const fill_order& order,
                            upstream::client::exchange& from, upstream::dialect::watcher* watcher, form shape) {
    received r;
    bool joinable = order.shared;
    for (;;) {
        std::string_view bytes;
        r.broke = co_await from.read_body(bytes);
        if (r.broke) r.broke.why = told(at, r.broke.why);
        if (r.broke || bytes.empty()) break;
        if (watcher) watcher->feed(bytes);
        into.append(bytes, watcher ? watcher->boundary() : 0, watcher ? watcher->usage_event() : std::nullopt);
        if (!into.overflowed()) continue;
        r.facts.too_large = true;
        // The watcher of an object collects it; of a stream it goes on, since followers wait for its event boundaries.
        if (is_object(shape)) watcher = nullptr;
        if (joinable) at.common.flights.remove(order.key, into);
        joinable = false;
        into.cut_slow(net::clock::now());
        while (into.full()) co_await into.wait_space();
    }
    r.facts.framing_complete = !r.broke && from.complete();
    r.facts.broke = r.broke.why;
    r.facts.framing = from.head().framing;
    r.abandoned = callers.abandoned() && !r.facts.framing_complete;
    if (watcher) r.facts.content = watcher->finish(r.facts.framing_complete);
    co_return r;
}

}  // namespace

reason told(const services& at, reason broke) noexcept {
    return at.common.stopping.load(std::memory_order_relaxed) ? reason::draining : broke;
}

net::task<conclusion> ask_upstream(services& at, flight& into, flight& callers, fill_order& order) {
    conclusion end;
    const net::time_point began = net::clock::now();
    // The exchange is this frame's; the flight forgets the callback in finish(), which this task calls before it ends.
    live_exchange live;
    const bool cancels = !order.route->policy->settings->finish_abandoned;
    if (cancels) callers.on_abandoned([&live] { live.abort(); });
    const bool strict = order.route->policy->settings->base == "strict";
    const auto kind = strict || order.call.greedy ? call_kind::greedy : call_kind::sampled;
    attempt_order wanted{order.route, order.pin, order.out, order.target, order.body, true, true, kind, live};
    if (order.route->policy->demands == upstream::determinism::demand::admitted)
        wanted.environment = order.epoch.environment;
    wanted.caller = order.caller;
    attempt tried = co_await open_exchange(at, wanted);
    end.retries = tried.retries;
    end.retry_after = tried.retry_after;
    if (!tried.opened || live.aborted()) {
        callers.on_abandoned(nullptr);
        const bool readonly = order.epoch.by_hand && tried.failed.why == reason::determinism_unavailable;
        end.why = told(at, live.aborted() ? reason::fill_cancelled
                           : readonly     ? reason::epoch_readonly
                                          : tried.failed.why);
        end.detail = tried.failed.detail;
        end.error_status = status_of(end.why);
        co_return end;
    }
    upstream::client::exchange& from = *tried.opened;

    const head_verdict judged = judge_head(from.head(), order.call);
    end.upstream_status = from.head().status;
    const auto origin = order.out.headers.find("origin");
    if (origin && from.head().status < 300)
        at.common.health[order.route->upstream->index]->origins.learn(*origin, from.head().headers);
    const std::string replica = tried.replica->id;
    witness seen(at, order, static_cast<std::size_t>(tried.replica - order.route->upstream->settings->replicas.data()),
                 tried.before);
    into.begin(relayed_head(from.head(), order, judged, replica));
    std::unique_ptr<upstream::dialect::watcher> watcher;
    if (judged.refuse == reason::none) watcher = order.api->watch(judged.form, order.call);
    received got = co_await receive(at, into, callers, order, from, watcher.get(), judged.form);
    callers.on_abandoned(nullptr);
    got.facts.head = judged.refuse;

    const auto took = net::clock::now() - began;
    end.upstream_ms = static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
    report_exchange(at, *order.route, *tried.replica, from.head().status, got.broke, end.upstream_ms,
                    {order.credential, order.proves});
    end.why = got.abandoned ? reason::fill_cancelled
                            : judge_answer(got.facts, judged.form, order.call, *order.route->policy->settings);
    if (end.why == reason::none && strict) end.why = tried.slot.flaw();
    if (from.complete()) tried.slot.done();  // whatever is asked below, the engine is free
    end.clean = ends_cleanly(got.facts, judged.form);
    testimony said;
    said.environment = order.epoch.environment;
    if (end.why == reason::none) {
        said = co_await seen.testify(got.facts.content);
        end.why = said.refuse;
    }
    end.detail = got.broke.detail;
    if (!end.clean) end.error_status = status_of(end.why);
    // An answer that is complete is kept as an entry even where it may not be stored: whoever wants the other form
    // needs it.
    if (end.clean && judged.refuse == reason::none && !got.facts.too_large) {
        end.answer = make_entry(order, from.head(), judged.form, {replica, said.environment, said.promise}, into.body(),
                                got.facts.content, end.upstream_ms, watcher->usage_event());
    }
    into.end_of_bytes(end.clean ? reason::none : end.why);
    co_return end;
}

}  // namespace idem::gateway::pipeline
