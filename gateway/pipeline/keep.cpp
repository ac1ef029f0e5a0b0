#include "gateway/pipeline/keep.hpp"

#include "gateway/pipeline/first_tier.hpp"
#include "gateway/pipeline/note_fill.hpp"
#include "gateway/pipeline/receipt.hpp"
#include "gateway/pipeline/second_tier.hpp"
#include "gateway/pipeline/storable.hpp"

namespace idem::gateway::pipeline {

using cache::lookup_status;
using cache::put_status;

net::task<looked_up> look_up(services& at, cache::flight& into, const asked& order) {
    looked_up result;
    const held_answer kept = co_await held(at, order.key, unix_ms_now());
    if (kept.value && (!order.beside || kept.value->output == *order.beside)) {
        result.entry = kept.value;
        result.tier = "memory";
        co_return result;
    }
    if (!at.common.second) co_return result;
    const checked_lookup looked = co_await find_stored(at.common, order.key, unix_ms_now());
    const cache::lookup& got = looked.got;
    switch (got.status) {
        case lookup_status::found:
            // The key is compared inside decode; the digest and the length of what was asked prove the key itself.
            if (order.beside && got.value->output != *order.beside) {
                result.replaces = got.value->fill;  // it stood beside an answer that is gone
            } else if (got.value->request == order.request && got.value->canonical_size == order.canonical_size) {
                result.entry = at.common.memory.put(got.value, unix_ms_now(), looked.checked, looked.confirmed);
                result.tier = at.common.second->name();
                // Read before its key was deleted, perhaps: then it must not come back to life here.
                if (into.invalidated()) {
                    at.common.memory.erase(order.key);
                    result.entry = nullptr;
                }
            } else {
                result.why = reason::entry_corrupt;
                result.may_store = false;
            }
            break;
        case lookup_status::absent:
            break;
        case lookup_status::dead:
            result.replaces = got.dead_fill;
            result.why = got.why;
            break;
        case lookup_status::foreign:
            result.why = reason::entry_unreadable;
            result.may_store = false;
            break;
        case lookup_status::failed:
            result.why = got.why;
            // One failure ends the store's use for this request: the answer stays in memory.
            result.may_store = false;
            result.refuse_all = order.route->policy->settings->store_required;
            if (result.refuse_all) result.why = reason::store_unavailable;
            break;
    }
    if (got.why != reason::none) at.common.metrics.store_error(at.thread, at.common.second->name(), "get", got.why);
    co_return result;
}

cache::entry_ptr make_entry(const fill_order& order, const upstream::http::response_head& head,
                            upstream::dialect::form form, origin from, std::string body,
                            const upstream::dialect::verdict& content, std::uint32_t upstream_ms,
                            std::optional<upstream::dialect::byte_range> usage_event) {
    std::optional<std::string> worked_out;
    if (!content.normalised) worked_out = order.api->normalised(form, body);
    const std::optional<std::string>& normalised = content.normalised ? content.normalised : worked_out;
    if (!normalised) return nullptr;
    auto e = std::make_shared<cache::entry>();
    e->key = order.key;
    e->request = order.request;
    e->canonical_size = order.canonical_size;
    e->fill = random_id();
    e->ban = order.ban;
    e->epoch = order.epoch.id;
    e->environment = from.environment;
    e->promise = from.promise;
    const cache::unix_ms now = unix_ms_now();
    e->created = cache::created_at(head.headers.find("age").value_or(""), now);
    const cache::lifetime lives = cache::lifetime_of(order.lifetime, order.ttl, now);
    e->fresh_until = lives.fresh_until;
    e->keep_until = lives.keep_until;
    e->form = form;
    e->dialect = order.api->name();
    e->model = order.call.model;
    e->upstream = order.route->upstream->settings->name;
    e->replica = std::move(from.replica);
    e->route = order.route->settings->name;
    e->scope_tag = order.scope_tag;
    e->tags = order.tags;
    e->content_type = head.headers.find("content-type").value_or(upstream::dialect::content_type(form));
    for (const auto [name, value] : head.headers) {
        if (replayed(name)) e->headers.emplace_back(name, value);
    }
    // Anthropic's servers call it `request-id`.
    e->origin_request_id = head.headers.find("x-request-id").value_or(head.headers.find("request-id").value_or(""));
    e->output = sha256(*normalised);
    e->tokens = content.tokens;
    e->usage_event = usage_event;
    e->upstream_ms = upstream_ms;
    e->length_limited = content.length_limited;
    e->body = std::move(body);
    return e;
}

namespace {

// Another writer was first: its answer is the stored one, and callers of an object get it.
void lose_to(cache::entry_ptr winner, const asked& order, cache::conclusion& end) {
    const bool differs = winner->output != end.answer->output;
    end.why = differs ? reason::lost_race_differs : reason::lost_race;
    if (order.refresh != reason::none) {
        if (!differs) end.why = reason::refreshed;
        return;  // computed anew on purpose: the caller keeps its own answer
    }
    end.answer = std::move(winner);
}

// In the memory tier as in the second one: what stood beside an answer that is gone makes room.
void forget_other(cache::memory_store& memory, const asked& order, cache::unix_ms now) {
    const cache::entry_ptr held = memory.find(order.key, now);
    if (held && held->output != *order.beside) memory.erase(order.key);
}

}  // namespace

net::task<void> store_answer(services& at, cache::flight& from, const asked& order, const looked_up& found,
                             cache::conclusion& end) {
    if (end.why == reason::none && end.answer) note_fill(at, order, *end.answer);
    if (end.why == reason::none) {
        if (order.keep_out != reason::none)
            end.why = order.keep_out;
        else if (from.invalidated() || (end.answer && at.common.bans.table()->hits(cache::subject_of(*end.answer))))
            end.why = reason::fill_invalidated;
        else if (!end.answer)
            end.why = reason::answer_malformed;
        else if (order.beside && end.answer->output != *order.beside)
            end.why = reason::form_lossy;
    }
    if (end.why != reason::none) {
        at.common.metrics.not_stored(at.thread, end.why);
        co_return;
    }
    const cache::unix_ms now = unix_ms_now();
    bool kept = false;
    std::uint64_t confirmed = 0;
    reason refused = reason::store_unavailable;
    if (at.common.second && !found.may_store && found.why != reason::none) refused = found.why;
    if (at.common.second && found.may_store) {
        confirmed = outages_so_far(at.common);
        cache::put_result put = co_await put_stored(at.common, end.answer, found.replaces, now);
        kept = put.status == put_status::stored;
        if (kept) at.common.metrics.stored(at.thread, at.common.second->name());
        if (put.why != reason::none) refused = put.why;
        if (put.status == put_status::lost && put.winner) {
            at.common.memory.put(put.winner, now, cache::sequence_of(order.ban), confirmed);
            lose_to(std::move(put.winner), order, end);
        } else if (!kept) {
            at.common.metrics.store_error(at.thread, at.common.second->name(), "put", put.why);
        }
    }
    if (end.why == reason::none && !kept && barred_while_blind(at.common)) end.why = refused;
    if (end.why == reason::none && !from.invalidated()) {
        if (order.beside) forget_other(at.common.memory, order, now);
        cache::entry_ptr there =
            at.common.memory.put(end.answer, now, cache::sequence_of(order.ban), kept ? confirmed : 0);
        if (there && there != end.answer)
            lose_to(std::move(there), order, end);
        else if (at.common.memory.takes(*end.answer)) {
            end.stored = true;
            at.common.metrics.stored(at.thread, "memory");
        } else if (kept) {
            end.stored = true;
        } else {
            end.why = refused;
        }
    }
    // Deleted while it was being stored: the deletion came second, so it wins. A deletion that comes after this check
    // finds the entry in every tier by itself.
    if (end.stored && from.invalidated()) {
        at.common.memory.erase(order.key);
        if (at.common.second) co_await at.common.second->erase(order.key);
        end.stored = false;
        end.why = reason::fill_invalidated;
    }
    if (end.why != reason::none) at.common.metrics.not_stored(at.thread, end.why);
    if (end.stored) issue_receipt(at, order, end.answer);
}

}  // namespace idem::gateway::pipeline
