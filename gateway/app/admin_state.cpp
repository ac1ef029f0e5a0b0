// What the admin API shows of the state record, and what it may change: epochs and purges.
#include <algorithm>
#include <boost/json.hpp>

#include "gateway/app/admin_view.hpp"
#include "gateway/app/replica_side.hpp"
#include "gateway/app/runtime.hpp"
#include "gateway/observe/access_line.hpp"
#include "gateway/observe/log.hpp"

namespace idem::gateway::app {

namespace json = boost::json;
namespace net = upstream::net;
using cache::state_record;

namespace {

std::string time_text(cache::unix_ms at) {
    std::string text;
    observe::clock_text clock;
    observe::append_time(text, at * 1000, clock);
    return text;
}

json::array history_of(const cache::upstream_epochs& u) {
    json::array out;
    for (const cache::known_epoch& e : u.epochs)
        out.push_back(json::object{{"epoch", to_hex(e.what.id.bytes)},
                                   {"environment", to_hex(e.what.environment.bytes)},
                                   {"opened", time_text(e.opened)},
                                   {"reason", e.why},
                                   {"current", e.what.id == u.current}});
    return out;
}

admin::order_result told(const state_keeper::changed& c) {
    using enum state_keeper::changed::status;
    if (c.is == done) return {};
    if (c.is == refused) return {409, c.detail};
    return {503, "nothing was changed; the store could not be asked or written: " + std::string(to_string(c.why))};
}

}  // namespace

json::object admin_view::epochs_list() const {
    pipeline::shared& shared = of_.shared();
    const state_record* record = of_.replicas().state().known();
    json::array out;
    for (const pipeline::upstream_plan& u : shared.plan.upstreams()) {
        json::object o{{"upstream", u.settings->name}, {"epoch", nullptr}, {"environment", nullptr}};
        if (const auto epoch = shared.epochs.get(u.index)) {
            o["epoch"] = to_hex(epoch->id.bytes);
            o["environment"] = to_hex(epoch->environment.bytes);
        }
        const cache::upstream_epochs* known = record ? record->find(u.settings->name) : nullptr;
        o["by_hand"] = known && known->by_hand;
        o["known"] = known ? history_of(*known) : json::array();
        out.push_back(std::move(o));
    }
    return {{"epochs", std::move(out)}};
}

net::task<admin::order_result> admin_view::open_epoch(std::string upstream, std::string why, std::string replica) {
    const auto& plans = of_.shared().plan.upstreams();
    const auto at = std::ranges::find(plans, upstream, [](const auto& u) { return u.settings->name; });
    if (at == plans.end()) co_return admin::order_result{404, "there is no upstream of this name"};
    const auto now = of_.shared().epochs.get(at->index);
    if (!now) co_return admin::order_result{503, "the epoch of this upstream is not known yet"};
    const auto& all = at->settings->replicas;
    const auto chosen = std::ranges::find(all, replica, &config::replica::id);
    if (!replica.empty() && chosen == all.end())
        co_return admin::order_result{404, "the upstream has no replica of this id"};
    digest environment = now->environment;
    if (replicas::keeper* keeper = of_.replicas().keeper_of(at->index)) {
        const auto wanted = replica.empty() ? keeper->majority_environment()
                                            : keeper->environment_of(static_cast<std::size_t>(chosen - all.begin()));
        if (!wanted)
            co_return admin::order_result{
                409, replica.empty() ? "no environment is that of more than half of the replicas that were read; say "
                                       "whose the epoch shall have, \"replica\": ID"
                                     : "the facts of this replica have not been read yet"};
        environment = *wanted;
    }
    const cache::epoch_record next{random_id(), environment};
    const state_keeper::changed made = co_await of_.replicas().state().change([&](state_record& r) -> std::string {
        cache::open_epoch(r, upstream, next, pipeline::unix_ms_now(), "ordered: " + why);
        return {};
    });
    admin::order_result result = told(made);
    if (result.status == 202) {
        result.epoch = to_hex(next.id.bytes);
        observe::log(observe::level::warning, "epoch_opened",
                     "upstream " + upstream + ": " + result.epoch + ", ordered: " + why);
    }
    co_return result;
}

net::task<admin::order_result> admin_view::activate_epoch(id128 id) {
    const state_keeper::changed made = co_await of_.replicas().state().change([&](state_record& r) -> std::string {
        return cache::activate_epoch(r, id) ? "" : "no upstream has had an epoch of this id that is still remembered";
    });
    admin::order_result result = told(made);
    if (result.status == 202) {
        result.epoch = to_hex(id.bytes);
        observe::log(observe::level::warning, "epoch_activated", "back to " + result.epoch);
    }
    co_return result;
}

namespace {

// A key's answer may stand in other forms beside it.
std::vector<std::string> values_of(cache::ban_kind kind, const std::string& value) {
    std::vector<std::string> out{value};
    const auto key = kind == cache::ban_kind::key ? digest_from_hex(value) : std::nullopt;
    if (!key) return out;
    using enum upstream::dialect::form;
    for (const auto form : {json, sse, ndjson, json_base64})
        out.push_back(to_hex(cache::key_beside({*key}, form).value.bytes));
    return out;
}

constexpr std::size_t entries_a_page = 200;

}  // namespace

net::task<admin::order_result> admin_view::ban(cache::ban_kind kind, std::string value, bool erase) {
    const state_keeper::changed made = co_await of_.replicas().state().change([&](state_record& r) -> std::string {
        for (const std::string& each : values_of(kind, value))
            cache::add_ban(r, kind, each, erase, pipeline::unix_ms_now());
        return {};
    });
    co_return told(made);
}

net::task<admin::order_result> admin_view::purge(cache::ban_kind kind, std::string value) {
    co_return co_await ban(kind, std::move(value), false);
}

net::task<admin::entry_list> admin_view::list(admin::entry_filter wanted) {
    pipeline::shared& shared = of_.shared();
    admin::entry_list out;
    out.tier = shared.second ? shared.second->name() : "memory";
    const auto bans = shared.bans.table();
    const auto fits = [&](const cache::entry& e) {
        const bool tagged = wanted.tag.empty() || std::ranges::find(e.tags, wanted.tag) != e.tags.end();
        return tagged && (wanted.model.empty() || e.model == wanted.model) &&
               (wanted.route.empty() || e.route == wanted.route) && !bans->hits(cache::subject_of(e));
    };
    constexpr int most_pages = 64;  // looked through for one answer
    out.next = wanted.cursor;
    for (int i = 0; i < most_pages && out.entries.size() < wanted.limit; ++i) {
        const std::size_t room = std::min(wanted.limit - out.entries.size(), entries_a_page);
        cache::entry_page page;
        if (shared.second) {
            cache::entry_page got = co_await shared.second->list(out.next, room);
            page = std::move(got);
        } else {
            page = shared.memory.list(out.next);
        }
        if (page.why != reason::none) {
            out.why = to_string(page.why);
            co_return out;
        }
        for (cache::entry_ptr& e : page.entries)
            if (fits(*e)) out.entries.push_back(std::move(e));
        out.next = page.next;
        if (out.next.empty()) break;
    }
    co_return out;
}

// What is stored from here on was begun after the ban, or stays purged: so one round reaches all.
net::task<admin::order_result> admin_view::erase_all(cache::ban_kind kind, std::string value) {
    admin::order_result result = co_await ban(kind, std::move(value), true);
    if (result.status != 202) co_return result;
    result.entries = 0;
    cache::store* second = of_.shared().second;
    std::string from;
    while (second) {
        const cache::entry_page page = co_await second->list(from, entries_a_page);
        reason why = page.why;
        for (const cache::entry_ptr& e : page.entries) {
            if (why != reason::none || !of_.shared().bans.table()->hits(cache::subject_of(*e))) continue;
            const cache::erase_status gone = co_await second->erase(e->key);
            if (gone == cache::erase_status::failed) why = reason::store_unavailable;
            *result.entries += gone == cache::erase_status::erased;
        }
        if (why != reason::none) {
            result.status = 503;
            result.detail = "it is purged, but not all of it could be removed from the store (" +
                            std::string(to_string(why)) + "); ask again";
            co_return result;
        }
        from = page.next;
        if (from.empty()) break;
    }
    if (second) second->scrub();
    co_return result;
}

net::task<admin::order_result> admin_view::reach(cache::ban_kind kind, std::string value) {
    const state_record* known = of_.replicas().state().known();
    if (!known) co_return admin::order_result{503, "the state record has not been read yet"};
    const cache::ban_table now(*known);
    state_record then = *known;
    for (const std::string& each : values_of(kind, value)) cache::add_ban(then, kind, each, false, 0);
    const cache::ban_table would(then);
    admin::order_result result{200, {}};
    result.entries = 0;
    cache::store* second = of_.shared().second;
    if (!second) result.entries = of_.shared().memory.count(would);
    std::string from;
    while (second) {
        const cache::entry_page page = co_await second->list(from, entries_a_page);
        if (page.why != reason::none)
            co_return admin::order_result{503, "the store could not be read: " + std::string(to_string(page.why))};
        for (const cache::entry_ptr& e : page.entries) {
            const cache::ban_subject s = cache::subject_of(*e);
            *result.entries += would.hits(s) && !now.hits(s);
        }
        from = page.next;
        if (from.empty()) break;
    }
    co_return result;
}

}  // namespace idem::gateway::app
