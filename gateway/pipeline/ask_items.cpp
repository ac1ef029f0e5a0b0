#include "gateway/pipeline/ask_items.hpp"

#include <algorithm>
#include <numeric>

#include "gateway/pipeline/ask.hpp"
#include "gateway/pipeline/items.hpp"
#include "gateway/pipeline/keep.hpp"
#include "gateway/pipeline/present.hpp"
#include "gateway/pipeline/reply.hpp"
#include "upstream/net/event.hpp"

namespace idem::gateway::pipeline {

using cache::conclusion;
using cache::flight;

namespace {

// Look-ups and stores under way at once, of one call.
constexpr std::size_t side_by_side = 16;

struct piece {
    asked what;  // the call as if for this item alone
    looked_up found;
    cache::entry_ptr answer;
    presented shown;            // `answer` as it is wanted
    reason why = reason::none;  // why it was not stored
    bool stored = false;
};

// What the tasks of one call share. They outlive the fill where that is cancelled, so they own it together.
struct gathering {
    gathering(net::executor on, std::shared_ptr<flight> of) : into(std::move(of)), done(on) {}
    std::shared_ptr<flight> into;
    wish wants;
    std::vector<piece> pieces;           // of each item
    std::vector<std::uint32_t> pending;  // items to look up or to store
    std::size_t next = 0, running = 0;
    bool store_out = false;   // the second tier failed once: enough for this request
    bool refuse_all = false;  // and the policy requires it
    net::event done;
};

// False: it cannot be shown as it is wanted, and nothing was changed.
bool give(piece& p, cache::entry_ptr answer, const wish& wants) {
    presented shown = present(answer, *p.what.api, wants);
    if (shown.lossy) return false;
    p.answer = std::move(answer);
    p.shown = std::move(shown);
    return true;
}

class at_work {
public:
    explicit at_work(gathering& g) : g_(g) {}
    ~at_work() {
        if (--g_.running == 0) g_.done.notify();
    }
    at_work(const at_work&) = delete;
    at_work& operator=(const at_work&) = delete;

private:
    gathering& g_;
};

net::task<void> look_up_item(services& at, gathering& g, piece& p) {
    for (int forms = 0; forms < 2; ++forms) {
        if (g.store_out) {
            p.found = {};
            p.found.may_store = false;
            p.found.entry = at.common.memory.find(p.what.key, unix_ms_now());
            if (p.found.entry && p.what.beside && p.found.entry->output != *p.what.beside) p.found.entry = nullptr;
            p.found.tier = "memory";
        } else {
            p.found = co_await look_up(at, *g.into, p.what);
            g.refuse_all = g.refuse_all || p.found.refuse_all;
            const bool failed = !p.found.entry && !p.found.may_store && p.found.why != reason::entry_unreadable &&
                                p.found.why != reason::entry_corrupt;
            g.store_out = g.store_out || failed;
        }
        const cache::entry_ptr e = p.found.entry;
        if (!e) co_return;
        if (give(p, e, g.wants)) co_return;
        // The other encoding would lose something: what is wanted stands, or will, beside this one.
        p.what.beside = e->output;
        p.what.key = cache::key_beside(p.what.key, g.wants.form);
    }
}

net::task<void> look_up_items(services& at, std::shared_ptr<gathering> g) {
    const at_work until_the_end(*g);
    while (g->next < g->pending.size()) {
        piece& p = g->pieces[g->pending[g->next++]];
        co_await look_up_item(at, *g, p);
    }
}

net::task<void> store_items(services& at, std::shared_ptr<gathering> g) {
    const at_work until_the_end(*g);
    while (g->next < g->pending.size()) {
        piece& p = g->pieces[g->pending[g->next++]];
        conclusion end;
        end.answer = p.answer;
        co_await store_answer(at, *g->into, p.what, p.found, end);
        p.why = end.why;
        p.stored = end.stored;
        // Where another writer was first its answer counts, if it can be shown.
        if (end.answer != p.answer && !give(p, end.answer, g->wants)) p.stored = false;
    }
}

// All of `pending`, some at a time.
net::task<void> work_through(services& at, std::shared_ptr<gathering> g,
                             net::task<void> (*work)(services&, std::shared_ptr<gathering>)) {
    g->next = 0;
    g->running = std::min(side_by_side, g->pending.size());
    for (std::size_t n = g->running; n > 0; --n) at.fills.spawn(work(at, g));
    while (g->running > 0) co_await g->done.wait();
}

// A body judged by itself, as an answer to `count` things. Null: it is none that may be kept.
cache::entry_ptr entry_of(const cache::entry& like, const asked& what, unsigned count, std::string body) {
    upstream::dialect::call call = what.call;
    call.choices = count;
    const auto watcher = what.api->watch(like.form, call);
    watcher->feed(body);
    const upstream::dialect::verdict v = watcher->finish(true);
    const auto words = v.normalised ? v.normalised : what.api->normalised(like.form, body);
    if (v.refuse != reason::none || !words) return nullptr;
    auto e = std::make_shared<cache::entry>(like);
    e->key = what.key;
    e->request = what.request;
    e->canonical_size = what.canonical_size;
    e->fill = random_id();
    e->output = sha256(*words);
    e->tokens = v.tokens;
    e->body = std::move(body);
    return e;
}

// An entry's head without its body.
cache::entry head_of(const cache::entry& e, upstream::dialect::form form) {
    cache::entry like;
    like.epoch = e.epoch;
    like.environment = e.environment;
    like.promise = e.promise;
    like.ban = e.ban;
    like.created = e.created;
    like.fresh_until = e.fresh_until;
    like.keep_until = e.keep_until;
    like.form = form;
    like.dialect = e.dialect;
    like.model = e.model;
    like.upstream = e.upstream;
    like.replica = e.replica;
    like.route = e.route;
    like.scope_tag = e.scope_tag;
    like.tags = e.tags;
    like.content_type = e.content_type;
    like.headers = e.headers;
    like.origin_request_id = e.origin_request_id;
    like.upstream_ms = e.upstream_ms;
    return like;
}

// The answer to the whole call, as old as the oldest of its parts. Null where they do not go together.
cache::entry_ptr joined(const gathering& g, const fill_order& order) {
    std::vector<std::string_view> texts;
    cache::entry like = head_of(*g.pieces.front().answer, g.wants.form);
    for (const piece& p : g.pieces) {
        texts.push_back(p.shown.pieces[0]);
        like.created = std::min(like.created, p.answer->created);
        like.fresh_until = std::min(like.fresh_until, p.answer->fresh_until);
        like.keep_until = std::min(like.keep_until, p.answer->keep_until);
    }
    auto body = order.items->join(texts);
    if (!body) return nullptr;
    return entry_of(like, order, static_cast<unsigned>(order.items->places.size()), std::move(*body));
}

// Gives items that have no answer yet their part of one to a call for `asked_for`, in which items may come twice.
// False: it does not come apart, and nothing was changed.
bool split_into(gathering& g, const fill_order& order, const cache::entry& answer,
                std::span<const std::uint32_t> asked_for) {
    auto bodies = order.items->split(answer.body, asked_for);
    if (!bodies) return false;
    const cache::entry like = head_of(answer, answer.form);
    std::vector<cache::entry_ptr> made(g.pieces.size());
    for (std::size_t k = 0; k < asked_for.size(); ++k) {
        const std::uint32_t i = asked_for[k];
        if (g.pieces[i].answer || made[i]) continue;
        made[i] = entry_of(like, g.pieces[i].what, 1, std::move((*bodies)[k]));
        if (!made[i]) return false;
    }
    bool all = true;
    for (std::size_t i = 0; i < made.size(); ++i) {
        if (made[i]) all = give(g.pieces[i], std::move(made[i]), g.wants) && all;
    }
    return all;
}

std::vector<cache::entry_ptr> answers_of(const gathering& g) {
    std::vector<cache::entry_ptr> out;
    out.reserve(g.pieces.size());
    for (const piece& p : g.pieces) out.push_back(p.answer);
    return out;
}

std::shared_ptr<gathering> begin(services& at, std::shared_ptr<flight> into, const fill_order& order) {
    auto g = std::make_shared<gathering>(at.on, std::move(into));
    g->wants = {order.call.wanted, order.call.usage_asked};
    g->pieces.resize(order.items->items.size());
    for (std::size_t i = 0; i < g->pieces.size(); ++i) {
        asked& what = g->pieces[i].what = static_cast<const asked&>(order);
        const item& of = order.items->items[i];
        what.request = of.request;
        what.key = of.key;
        what.canonical_size = of.canonical_size;
        what.beside.reset();
    }
    g->pending.resize(g->pieces.size());
    std::iota(g->pending.begin(), g->pending.end(), 0U);
    return g;
}

conclusion refused(reason why) {
    conclusion end;
    end.why = why;
    end.error_status = status_of(why);
    return end;
}

// Everything was stored. Without an answer where it does not go together.
conclusion found_all(const gathering& g, const fill_order& order) {
    conclusion end;
    end.from = conclusion::source::found;
    end.tier = "memory";
    for (const piece& p : g.pieces) {
        if (p.found.tier != "memory") end.tier = p.found.tier;
    }
    end.clean = true;
    end.stored = true;
    end.answer = joined(g, order);
    return end;
}

struct part_answer {
    conclusion end;
    std::optional<cache::answer_head> head;
    std::string error;  // an error's body, whole
    bool failed = false;
};

// Asks for g->pending alone, in a flight that nobody follows.
net::task<part_answer> ask_part(services& at, std::shared_ptr<gathering> g, fill_order& order, std::string body) {
    fill_order part;
    static_cast<asked&>(part) = static_cast<const asked&>(order);
    part.call.choices = static_cast<unsigned>(g->pending.size());
    part.credential = order.credential;
    part.caller = order.caller;
    part.proves = order.proves;
    part.scope_tag = order.scope_tag;
    part.tags = order.tags;
    part.lifetime = order.lifetime;
    part.ttl = order.ttl;
    part.shared = false;
    part.out = order.out;
    part.out.length = body.size();
    part.target = order.target;
    part.body = std::move(body);
    const std::uint64_t cap = at.common.plan.settings().cache.entry;
    const auto alone = std::make_shared<flight>(at.on, limits_of(cap, order.items.get()));
    part_answer got;
    got.end = co_await ask_upstream(at, *alone, *g->into, part);
    got.head = alone->head();
    got.failed = !got.end.answer && (!got.end.clean || got.end.upstream_status != 200);
    if (got.failed && got.end.clean && !alone->overflowed()) got.error = alone->body();
    co_return got;
}

// Stores what g->pending was answered with; where the answers of others came first they are the pieces' from here on.
net::task<void> keep_pieces(services& at, std::shared_ptr<gathering> g, const fill_order& order, conclusion& end) {
    if (order.keep_out != reason::none) {
        at.common.metrics.not_stored(at.thread, order.keep_out);
        co_return;
    }
    co_await work_through(at, g, store_items);
    end.stored = true;
    for (const std::uint32_t i : g->pending) {
        const piece& p = g->pieces[i];
        end.stored = end.stored && p.stored;
        if (p.why != reason::none) end.why = p.why;
    }
    g->pending.clear();
}

// What is missing, in a call of its own. nullopt: the call has to be asked for as a whole.
net::task<std::optional<conclusion>> complete(services& at, std::shared_ptr<gathering> g, fill_order& order) {
    // Of an encoded body there is no part to ask for.
    std::string body;
    if (!order.out.headers.find("content-encoding")) body = order.items->body_for(order.body, g->pending);
    if (body.empty()) co_return std::nullopt;
    part_answer got = co_await ask_part(at, g, order, std::move(body));
    if (got.failed) {
        // With a status of its own it is told as it came; what broke is told by the conclusion.
        if (got.end.clean && got.head) {
            g->into->begin(std::move(*got.head));
            g->into->append(got.error, 0, std::nullopt);
        }
        at.common.metrics.not_stored(at.thread, got.end.why);
        co_return std::move(got.end);
    }
    const bool good = got.end.answer && got.end.why == reason::none;
    if (!good || !split_into(*g, order, *got.end.answer, g->pending)) co_return std::nullopt;
    got.end.why = reason::items_partial;
    co_await keep_pieces(at, g, order, got.end);
    got.end.answer = joined(*g, order);
    if (!got.end.answer) co_return std::nullopt;
    if (got.head) g->into->begin(std::move(*got.head));
    co_return std::move(got.end);
}

// The call as it came. Its answer comes back as it came, too, unless there are answers that were first.
net::task<conclusion> ask_whole(services& at, std::shared_ptr<gathering> g, fill_order& order, bool some_found) {
    conclusion end = co_await ask_upstream(at, *g->into, *g->into, order);
    if (end.why == reason::none && (!end.answer || !split_into(*g, order, *end.answer, order.items->places)))
        end.why = reason::answer_malformed;
    if (end.why != reason::none) {
        at.common.metrics.not_stored(at.thread, end.why);
        co_return end;
    }
    const std::vector<cache::entry_ptr> fetched = answers_of(*g);
    co_await keep_pieces(at, g, order, end);
    if (some_found || answers_of(*g) != fetched) {
        if (cache::entry_ptr whole = joined(*g, order)) end.answer = std::move(whole);
    }
    co_return end;
}

}  // namespace

net::task<conclusion> answer_items(services& at, std::shared_ptr<flight> into, fill_order& order) {
    const std::shared_ptr<gathering> g = begin(at, into, order);
    if (order.look_up) co_await work_through(at, g, look_up_items);
    if (g->refuse_all) co_return refused(reason::store_unavailable);
    std::erase_if(g->pending, [&g](std::uint32_t i) { return g->pieces[i].answer != nullptr; });
    if (g->pending.empty()) {
        conclusion end = found_all(*g, order);
        if (end.answer) co_return end;
    }
    if (order.only_stored) co_return refused(order.route->offline ? reason::offline : reason::only_if_cached);
    if (into->abandoned() && !order.route->policy->settings->finish_abandoned)
        co_return refused(reason::fill_cancelled);
    const bool some_found = g->pending.size() < g->pieces.size();
    if (order.look_up && !g->pending.empty() && (some_found || order.items->repeats())) {
        std::optional<conclusion> end = co_await complete(at, g, order);
        if (end) co_return std::move(*end);
    }
    co_return co_await ask_whole(at, g, order, some_found);
}

}  // namespace idem::gateway::pipeline
