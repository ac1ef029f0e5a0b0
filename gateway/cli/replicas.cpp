#include "gateway/cli/replicas.hpp"

#include <boost/json.hpp>
#include <iostream>
#include <vector>

#include "gateway/cli/admin_call.hpp"
#include "gateway/cli/table.hpp"

namespace idem::gateway::cli {

namespace json = boost::json;

namespace {

std::vector<table_row> rows_of(const json::value& body) {
    std::vector<table_row> rows{{"UPSTREAM", "REPLICA", "STATE", "RUNS", "ENVIRONMENT", "SINCE", "WHY"}};
    const json::value* upstreams = body.is_object() ? body.get_object().if_contains("upstreams") : nullptr;
    if (!upstreams || !upstreams->is_array()) return rows;
    for (const json::value& u : upstreams->get_array()) {
        const json::value* list = u.is_object() ? u.get_object().if_contains("replicas") : nullptr;
        if (!list || !list->is_array()) continue;
        const bool watched = member_text(u, "watched") == "true";
        for (const json::value& r : list->get_array()) {
            std::string why = watched ? member_text(r, "why") : "not watched";
            if (const std::string detail = member_text(r, "detail"); !detail.empty()) why += ": " + detail;
            // The reason goes last, for it may be long.
            rows.push_back({member_text(u, "name"), member_text(r, "id"), member_text(r, "state"),
                            member_text(r, "runs"), member_text(r, "environment").substr(0, 12),
                            member_text(r, "since"), std::move(why)});
        }
    }
    return rows;
}

int complain(const std::string& why) {
    std::cerr << "idem: " << why << "\n";
    return 1;
}

}  // namespace

int run_replicas(const replicas_action& a) {
    if (a.what == "list") {
        const admin_answer got = call_admin(a.where, "GET", "/admin/v1/replicas");
        if (!got.trouble.empty()) return complain(got.trouble);
        if (got.status != 200) return complain(got.problem());
        if (a.output == form::json) {
            std::cout << got.body << std::flush;
        } else {
            boost::system::error_code ec;
            const json::value body = json::parse(got.body, ec);
            if (ec) return complain("the gateway's answer is not JSON");
            std::cout << as_table(rows_of(body)) << std::flush;
        }
        return std::cout ? 0 : 1;
    }
    std::string target = "/admin/v1/replicas/" + escaped(a.replica) + "/" + a.what;
    std::string query;
    if (!a.upstream.empty()) query = "?upstream=" + escaped(a.upstream);
    if (a.record) query += (query.empty() ? "?" : "&") + std::string("record=1");
    const admin_answer got = call_admin(a.where, "POST", target + query);
    if (!got.trouble.empty()) return complain(got.trouble);
    if (got.status != 202) return complain(got.problem());
    if (a.output == form::json) {
        std::cout << got.body << std::flush;
    } else {
        std::cout << a.what << " ordered for replica " << a.replica << "; `idem replicas list` shows what comes of it\n"
                  << std::flush;
    }
    return std::cout ? 0 : 1;
}

}  // namespace idem::gateway::cli
