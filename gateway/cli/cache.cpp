#include "gateway/cli/cache.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <iostream>

#include "gateway/cli/admin_call.hpp"
#include "gateway/cli/table.hpp"

namespace idem::gateway::cli {

namespace json = boost::json;
using what = cache_action::what;

namespace {

// Counting and erasing look at every entry.
constexpr auto patience = std::chrono::minutes(10);

int complain(const std::string& why) {
    std::cerr << "idem: " << why << "\n";
    return 1;
}

const json::array& items(const json::value& of, std::string_view name) {
    static const json::array none;
    const json::value* v = of.is_object() ? of.get_object().if_contains(name) : nullptr;
    return v && v->is_array() ? v->get_array() : none;
}

json::value member(const json::value& of, std::string_view name) {
    const json::value* v = of.is_object() ? of.get_object().if_contains(name) : nullptr;
    return v ? *v : json::value();
}

std::string stats_text(const json::value& body) {
    std::vector<table_row> tiers{{"TIER", "ENTRIES", "BYTES", "CAPACITY", "EVICTIONS", "STATE"}};
    for (const json::value& t : items(body, "tiers"))
        tiers.push_back({member_text(t, "tier"), member_text(t, "entries"), member_text(t, "bytes"),
                         member_text(t, "capacity"), member_text(t, "evictions"), member_text(t, "state")});
    std::vector<table_row> outcomes{{"OUTCOME", "REQUESTS"}};
    const json::value counted = member(member(body, "requests"), "outcomes");
    if (counted.is_object())
        for (const auto& [name, n] : counted.get_object()) outcomes.push_back({name, json::serialize(n)});
    return as_table(tiers) + "\n" + as_table(outcomes);
}

std::string epochs_text(const json::value& body) {
    std::vector<table_row> rows{{"UPSTREAM", "EPOCH", "ENVIRONMENT", "OPENED", "", "REASON"}};
    for (const json::value& u : items(body, "epochs")) {
        const bool by_hand = member_text(u, "by_hand") == "true";
        for (const json::value& e : items(u, "known")) {
            const bool current = member_text(e, "current") == "true";
            rows.push_back({member_text(u, "upstream"), member_text(e, "epoch"),
                            member_text(e, "environment").substr(0, 12), member_text(e, "opened"),
                            !current  ? ""
                            : by_hand ? "current, by hand"
                                      : "current",
                            member_text(e, "reason")});
        }
    }
    return as_table(rows);
}

std::string entry_text(const json::value& body) {
    std::vector<table_row> rows;
    if (body.is_object())
        for (const auto& [name, value] : body.get_object()) rows.push_back({name, member_text(body, name)});
    return as_table(rows);
}

int print(const std::string& text) {
    std::cout << text << std::flush;
    return std::cout ? 0 : 1;
}

struct asked {
    std::string method, target, body{};
};

asked call_of(const cache_action& a) {
    switch (a.which) {
        case what::list:
            return {};  // page by page, below
        case what::stats:
            return {"GET", "/admin/v1/stats"};
        case what::get:
            return {"GET", "/admin/v1/entries/" + escaped(a.key) + (a.body ? "?body=1" : "")};
        case what::epochs:
            return {"GET", "/admin/v1/epochs"};
        case what::open_epoch: {
            json::object o{{"upstream", a.upstream}, {"reason", a.why}};
            if (!a.replica.empty()) o["replica"] = a.replica;
            return {"POST", "/admin/v1/epochs", json::serialize(o)};
        }
        case what::rollback:
            return {"POST", "/admin/v1/epochs/" + escaped(a.epoch) + "/activate", "{}"};
        case what::purge:
        case what::erase:
            break;
    }
    json::object o;
    if (a.kind == "all")
        o["all"] = true;
    else
        o[a.kind] = a.value;
    if (a.dry_run) o["dry_run"] = true;
    return {"POST", a.which == what::erase ? "/admin/v1/erase" : "/admin/v1/purge", json::serialize(o)};
}

std::string told(const cache_action& a, const json::value& body) {
    const std::string entries = member_text(body, "entries");
    switch (a.which) {
        case what::list:
            break;
        case what::stats:
            return stats_text(body);
        case what::get:
            return entry_text(body);
        case what::epochs:
            return epochs_text(body);
        case what::open_epoch:
            return "opened " + member_text(body, "epoch") + "\n";
        case what::rollback:
            return "back to " + member_text(body, "epoch") +
                   "; no other epoch is opened by itself until you open one or go to another\n";
        case what::purge:
            if (a.dry_run) break;
            return "purged: no gateway of this store serves it after a second\n";
        case what::erase:
            if (a.dry_run) break;
            return "erased: " + entries + " entries removed from the store\n";
    }
    return "it would reach " + entries + " entries\n";
}

std::string row_time(const std::string& time) {
    return time.substr(0, 19);
}

table_row entry_row(const json::value& e) {
    std::string tags;
    for (const json::value& t : items(e, "tags"))
        if (t.is_string()) tags += (tags.empty() ? "" : ",") + std::string(t.get_string());
    return {member_text(e, "key"),   row_time(member_text(e, "created")), member_text(e, "model"),
            member_text(e, "route"), member_text(e, "body_bytes"),        tags};
}

// Page after page, each printed as it comes.
int list(const cache_action& a) {
    std::string cursor;
    std::uint64_t left = a.limit;
    std::vector<table_row> rows{{"KEY", "CREATED", "MODEL", "ROUTE", "BYTES", "TAGS"}};
    json::array all;
    do {
        std::string target = "/admin/v1/entries?limit=" + std::to_string(std::min<std::uint64_t>(left, 1000));
        for (const auto& [name, value] :
             {std::pair{"model", &a.model}, {"tag", &a.tag}, {"route", &a.route}, {"cursor", &cursor}})
            if (!value->empty()) target += "&" + std::string(name) + "=" + escaped(*value);
        const admin_answer got = call_admin(a.where, "GET", target, {}, patience);
        if (!got.trouble.empty()) return complain(got.trouble);
        if (got.status != 200) return complain(got.problem());
        boost::system::error_code ec;
        const json::value page = json::parse(got.body, ec);
        if (ec) return complain("the gateway's answer is not JSON");
        for (const json::value& e : items(page, "entries")) {
            if (left == 0) break;
            --left;
            if (a.output == form::json)
                all.push_back(e);
            else
                rows.push_back(entry_row(e));
        }
        cursor = member_text(page, "next");
    } while (left > 0 && !cursor.empty());
    return print(a.output == form::json ? json::serialize(all) + "\n" : as_table(rows));
}

}  // namespace

int run_cache(const cache_action& a) {
    if (a.which == what::list) return list(a);
    asked call = call_of(a);
    const admin_answer got = call_admin(a.where, call.method, call.target, std::move(call.body), patience);
    if (!got.trouble.empty()) return complain(got.trouble);
    if (got.status != 200 && got.status != 202) return complain(got.problem());
    boost::system::error_code ec;
    const json::value body = json::parse(got.body, ec);
    if (ec) return complain("the gateway's answer is not JSON");
    if (a.which == what::get && a.body) return print(member_text(body, "body"));
    return print(a.output == form::json ? got.body : told(a, body));
}

}  // namespace idem::gateway::cli
