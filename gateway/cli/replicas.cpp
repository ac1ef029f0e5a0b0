#include "gateway/cli/replicas.hpp"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <iostream>
#include <vector>

#include "gateway/cli/admin_call.hpp"

namespace idem::gateway::cli {

namespace json = boost::json;

namespace {

using row = std::array<std::string, 7>;

// Members that are not there or of another type are shown as empty: the gateway may be a newer one.
std::string text(const json::object& o, std::string_view name) {
    const json::value* v = o.if_contains(name);
    if (!v || v->is_null()) return {};
    return v->is_string() ? std::string(v->get_string()) : json::serialize(*v);
}

std::vector<row> rows_of(const json::value& body) {
    std::vector<row> rows{{"UPSTREAM", "REPLICA", "STATE", "WHY", "RUNS", "ENVIRONMENT", "SINCE"}};
    const json::value* upstreams = body.is_object() ? body.get_object().if_contains("upstreams") : nullptr;
    if (!upstreams || !upstreams->is_array()) return rows;
    for (const json::value& u : upstreams->get_array()) {
        const json::value* list = u.is_object() ? u.get_object().if_contains("replicas") : nullptr;
        if (!list || !list->is_array()) continue;
        const bool watched = text(u.get_object(), "watched") == "true";
        for (const json::value& each : list->get_array()) {
            if (!each.is_object()) continue;
            const json::object& r = each.get_object();
            std::string why = watched ? text(r, "why") : "not watched";
            if (const std::string detail = text(r, "detail"); !detail.empty()) why += ": " + detail;
            rows.push_back({text(u.get_object(), "name"), text(r, "id"), text(r, "state"), why, text(r, "runs"),
                            text(r, "environment").substr(0, 12), text(r, "since")});
        }
    }
    return rows;
}

void print_table(const std::vector<row>& rows) {
    // The reason goes last, for it may be long.
    constexpr std::array<std::size_t, 7> order = {0, 1, 2, 4, 5, 6, 3};
    std::array<std::size_t, 7> width{};
    for (const row& r : rows) {
        for (std::size_t i = 0; i < r.size(); ++i) width[i] = std::max(width[i], r[i].size());
    }
    for (const row& r : rows) {
        std::string line;
        for (const std::size_t i : order) {
            line += r[i];
            if (i != order.back()) line.append(width[i] - r[i].size() + 2, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        std::cout << line << "\n";
    }
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
            print_table(rows_of(body));
            std::cout << std::flush;
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
