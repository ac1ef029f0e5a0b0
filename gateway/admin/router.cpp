#include "gateway/admin/router.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

#include "gateway/admin/query.hpp"
#include "gateway/config/text.hpp"
#include "upstream/base/digest.hpp"

namespace idem::gateway::admin {

namespace {

using upstream::http::iequals;
using task = decision::task;

enum class role : std::uint8_t { none, reader, full };

struct target {
    std::string_view path, query;
};

target split(std::string_view text) {
    const auto mark = text.find('?');
    if (mark == std::string_view::npos) return {text, {}};
    return {text.substr(0, mark), text.substr(mark + 1)};
}

// A flag of a probe, which may say besides what it likes: present, and not 0 or false.
bool wishes(std::string_view query, std::string_view name) {
    while (!query.empty()) {
        const auto end = query.find('&');
        const auto pair = query.substr(0, end);
        const auto equals = pair.find('=');
        if (pair.substr(0, equals) == name) {
            const auto text = equals == std::string_view::npos ? std::string_view("1") : pair.substr(equals + 1);
            return text != "0" && text != "false";
        }
        query = end == std::string_view::npos ? std::string_view{} : query.substr(end + 1);
    }
    return false;
}

// "name", "name:port", "[::1]:port" without the port and the brackets.
std::string_view without_port(std::string_view host) {
    if (host.starts_with('[')) {
        const auto end = host.find(']');
        return end == std::string_view::npos ? std::string_view{} : host.substr(1, end - 1);
    }
    return host.substr(0, host.rfind(':'));
}

bool host_allowed(std::string_view host, const std::vector<std::string>& hosts) {
    const auto name = without_port(host);
    if (iequals(name, "localhost")) return true;
    boost::system::error_code ec;
    const auto literal = boost::asio::ip::make_address(std::string(name), ec);
    if (!ec && literal.is_loopback()) return true;
    return std::any_of(hosts.begin(), hosts.end(),
                       [&](const std::string& h) { return iequals(h, name) || iequals(h, host); });
}

bool same_origin(std::string_view origin, std::string_view host) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (origin.starts_with(scheme)) return iequals(origin.substr(scheme.size()), host);
    }
    return false;
}

// Over digests, so that neither content nor length shows in the time.
bool same_token(std::string_view given, std::string_view wanted) {
    const auto a = sha256(given), b = sha256(wanted);
    return CRYPTO_memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
}

role role_of(const upstream::http::fields& headers, const rules& r) {
    if (headers.count("authorization") != 1) return role::none;
    const auto value = *headers.find("authorization");
    if (value.size() < 8 || !iequals(value.substr(0, 7), "bearer ")) return role::none;
    auto token = value.substr(7);
    while (token.starts_with(' ')) token.remove_prefix(1);
    if (token.empty()) return role::none;
    const bool full = !r.token.empty() && same_token(token, r.token);
    const bool reader = !r.read_token.empty() && same_token(token, r.read_token);
    return full ? role::full : reader ? role::reader : role::none;
}

decision refuse(unsigned status, std::string_view detail) {
    return {.refusal = problem(status, detail)};
}

decision only(std::string_view allowed) {
    auto d = refuse(405, "allowed here: " + std::string(allowed));
    d.refusal.headers.emplace_back("Allow", allowed);
    return d;
}

bool reads(std::string_view method) {
    return method == "GET" || method == "HEAD";
}

std::optional<decision> free_for_all(const upstream::http::request_head& head, const target& t) {
    decision d;
    if (t.path == "/livez") {
        d.what = task::livez;
    } else if (t.path == "/readyz") {
        d.what = task::readyz;
        d.verbose = wishes(t.query, "verbose");
    } else if (t.path == "/metrics") {
        d.what = task::metrics;
        const auto accept = head.headers.find("accept");
        d.open_metrics = accept && accept->find("application/openmetrics-text") != std::string_view::npos;
    } else {
        return std::nullopt;
    }
    return reads(head.method) ? d : only("GET, HEAD");
}

constexpr std::string_view entries = "/admin/v1/entries/";
constexpr std::string_view replicas = "/admin/v1/replicas/";
constexpr std::string_view known_epochs = "/admin/v1/epochs/";
constexpr std::string_view read_only = "the read token may not change anything";

// POST /admin/v1/replicas/ID/ACTION?upstream=NAME
decision ordered(const upstream::http::request_head& head, const target& t, role who) {
    constexpr std::string_view actions[] = {"attest", "quarantine", "readmit", "drain"};
    const std::string_view rest = t.path.substr(replicas.size());
    const auto slash = rest.rfind('/');
    const std::string_view action = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
    const auto id = unescaped(rest.substr(0, slash));
    if (!id || id->empty() || std::ranges::find(actions, action) == std::end(actions))
        return refuse(404, "expected /admin/v1/replicas/ID/attest, quarantine, readmit or drain");
    if (head.method != "POST") return only("POST");
    if (who != role::full) return refuse(403, read_only);
    constexpr std::string_view known[] = {"upstream", "record"};
    query asked(t.query, std::span(known).first(action == "attest" ? 2 : 1));
    decision d{.what = task::order};
    d.replica = *id;
    d.upstream = asked.text("upstream");
    d.action = asked.flag("record") ? "record" : action;
    return asked.error().empty() ? d : refuse(400, asked.error());
}

// POST /admin/v1/epochs/ID/activate
decision activated(const upstream::http::request_head& head, const target& t, role who) {
    constexpr std::string_view verb = "/activate";
    std::string_view name = t.path.substr(known_epochs.size());
    const bool there = name.ends_with(verb);
    if (there) name.remove_suffix(verb.size());
    const auto id = id128_from_hex(name);
    if (!there || !id) return refuse(404, "expected /admin/v1/epochs/ID/activate, the id in 32 hexadecimal digits");
    if (head.method != "POST") return only("POST");
    if (who != role::full) return refuse(403, read_only);
    decision d{.what = task::activate_epoch};
    d.epoch = *id;
    return d;
}

// GET /admin/v1/entries?model=&tag=&route=&cursor=&limit=
decision listed(const target& t) {
    constexpr std::string_view known[] = {"model", "tag", "route", "cursor", "limit"};
    constexpr std::size_t most = 1000;
    const query asked(t.query, known);
    if (!asked.error().empty()) return refuse(400, asked.error());
    decision d{.what = task::list};
    d.wanted.model = asked.text("model");
    d.wanted.tag = asked.text("tag");
    d.wanted.route = asked.text("route");
    d.wanted.cursor = asked.text("cursor");
    const bool good = d.wanted.cursor.size() <= 20 &&
                      std::ranges::all_of(d.wanted.cursor, [](char c) { return c >= '0' && c <= '9'; });
    if (!good) return refuse(400, "cursor: expected what the page before gave as \"next\"");
    if (const std::string_view text = asked.text("limit"); !text.empty()) {
        const auto n = config::parse_integer(text);
        if (!n || *n == 0 || *n > most) return refuse(400, "limit: expected 1 to 1000");
        d.wanted.limit = *n;
    }
    return d;
}

decision guarded(const upstream::http::request_head& head, const target& t, const rules& r) {
    const role who = role_of(head.headers, r);
    if (who == role::none) {
        auto d =
            refuse(401, "needs `Authorization: Bearer TOKEN` with the token of admin.token or of the file admin-token");
        d.refusal.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"idem\"");
        return d;
    }
    const query nothing(t.query, {});
    const auto plain = [&](task what) {
        return nothing.error().empty() ? decision{.what = what} : refuse(400, nothing.error());
    };
    if (t.path == "/admin/v1/stats") {
        if (!reads(head.method)) return only("GET, HEAD");
        return plain(task::stats);
    }
    if (t.path == "/admin/v1/replicas") {
        if (!reads(head.method)) return only("GET, HEAD");
        return plain(task::replicas);
    }
    if (t.path == "/admin/v1/divergences") {
        if (!reads(head.method)) return only("GET, HEAD");
        return plain(task::divergences);
    }
    if (t.path == "/admin/v1/epochs") {
        if (reads(head.method)) return plain(task::epochs);
        if (head.method != "POST") return only("GET, HEAD, POST");
        if (who != role::full) return refuse(403, read_only);
        return plain(task::open_epoch);
    }
    if (t.path.starts_with(known_epochs)) return activated(head, t, who);
    if (t.path == "/admin/v1/purge" || t.path == "/admin/v1/erase") {
        if (head.method != "POST") return only("POST");
        if (who != role::full) return refuse(403, read_only);
        return plain(t.path.ends_with("purge") ? task::purge : task::erase_all);
    }
    if (t.path == "/admin/v1/ledger/drift") {
        if (!reads(head.method)) return only("GET, HEAD");
        constexpr std::string_view known[] = {"from", "to"};
        const query asked(t.query, known);
        if (!asked.error().empty()) return refuse(400, asked.error());
        const auto before = id128_from_hex(asked.text("from")), after = id128_from_hex(asked.text("to"));
        if (!before || !after) return refuse(400, "expected ?from=EPOCH&to=EPOCH, ids of 32 hexadecimal digits");
        decision d{.what = task::drift};
        d.before = *before;
        d.after = *after;
        return d;
    }
    if (t.path.starts_with(replicas)) return ordered(head, t, who);
    if (t.path == "/admin/v1/entries") return reads(head.method) ? listed(t) : only("GET, HEAD");
    if (!t.path.starts_with(entries)) return refuse(404, "no such resource");
    std::string_view name = t.path.substr(entries.size());
    const bool receipt = name.ends_with("/receipt");
    if (receipt) name.remove_suffix(std::string_view("/receipt").size());
    const auto key = digest_from_hex(name);
    if (!key) return refuse(404, "an entry is named by the 64 hexadecimal digits of its key");
    if (receipt) {
        if (!reads(head.method)) return only("GET, HEAD");
        constexpr std::string_view known[] = {"fill"};
        const query asked(t.query, known);
        if (!asked.error().empty()) return refuse(400, asked.error());
        const std::string_view text = asked.text("fill");
        const auto fill = id128_from_hex(text);
        if (!text.empty() && !fill) return refuse(400, "a fill is named by 32 hexadecimal digits");
        decision d{.what = task::receipt, .key = {*key}};
        d.fill = fill.value_or(id128{});
        return d;
    }
    if (reads(head.method)) {
        constexpr std::string_view known[] = {"body"};
        query asked(t.query, known);
        const bool body = asked.flag("body");
        if (!asked.error().empty()) return refuse(400, asked.error());
        if (body && who != role::full) return refuse(403, "stored answers are shown to the full token only");
        return {.what = task::find, .key = {*key}, .with_body = body};
    }
    if (head.method != "DELETE") return only("GET, HEAD, DELETE");
    if (who != role::full) return refuse(403, read_only);
    decision d = plain(task::erase);
    d.key = {*key};
    return d;
}

}  // namespace

decision decide(const upstream::http::request_head& head, const rules& r) {
    const target t = split(head.target);
    if (!r.health_only) {
        const auto host = head.headers.find("host");
        if (!host || head.headers.count("host") != 1 || !host_allowed(*host, r.hosts)) {
            return refuse(421, "Host must be a loopback address or be listed in admin.hosts");
        }
        if (const auto origin = head.headers.find("origin"); origin && !same_origin(*origin, *host)) {
            return refuse(403, "a page of another origin may not use this API");
        }
    }
    if (auto d = free_for_all(head, t)) return std::move(*d);
    if (!r.health_only && t.path.starts_with("/admin/v1/")) return guarded(head, t, r);
    return refuse(404, "no such resource");
}

}  // namespace idem::gateway::admin
