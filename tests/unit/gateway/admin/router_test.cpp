#include "gateway/admin/router.hpp"

#include <doctest/doctest.h>

#include <utility>

namespace admin = idem::gateway::admin;
using task = admin::decision::task;

namespace {

using fields = std::vector<std::pair<std::string, std::string>>;

const std::string full = "full-token-0123456789", reader = "read-token-0123456789";
const std::string key(64, 'a');

admin::rules rules() {
    return {.token = full, .read_token = reader, .hosts = {"idem.internal"}};
}

admin::decision ask(const std::string& method, const std::string& target, fields extra = {},
                    const admin::rules& r = rules(), const std::string& host = "127.0.0.1:8081") {
    idem::upstream::http::request_head head;
    head.method = method;
    head.target = target;
    if (!host.empty()) head.headers.add("Host", host);
    for (const auto& [name, text] : extra) head.headers.add(name, text);
    return admin::decide(head, r);
}

fields bearer(const std::string& token) {
    return {{"Authorization", "Bearer " + token}};
}

unsigned status(const admin::decision& d) {
    CHECK(d.what == task::refuse);
    return d.refusal.status;
}

}  // namespace

TEST_CASE("probes and metrics are free") {
    CHECK(ask("GET", "/livez").what == task::livez);
    CHECK(ask("HEAD", "/readyz").what == task::readyz);
    CHECK_FALSE(ask("GET", "/readyz").verbose);
    CHECK(ask("GET", "/readyz?verbose").verbose);
    CHECK_FALSE(ask("GET", "/readyz?verbose=0").verbose);
    CHECK_FALSE(ask("GET", "/metrics").open_metrics);
    CHECK(ask("GET", "/metrics", {{"Accept", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"}})
              .open_metrics);
    const auto d = ask("POST", "/livez");
    CHECK(status(d) == 405);
    CHECK(d.refusal.headers == fields{{"Allow", "GET, HEAD"}});
}

TEST_CASE("everything else needs the token, and says nothing without it") {
    for (const std::string path : {"/admin/v1/stats", "/admin/v1/nothing", "/admin/v1/entries/x"}) {
        CAPTURE(path);
        CHECK(status(ask("GET", path)) == 401);
        CHECK(status(ask("GET", path, bearer("wrong"))) == 401);
        CHECK(status(ask("GET", path, bearer(""))) == 401);
        CHECK(status(ask("GET", path, {{"Authorization", "Basic " + full}})) == 401);
        CHECK(status(ask("GET", path, {{"Authorization", full}})) == 401);
        CHECK(status(ask("GET", path, {{"Authorization", "Bearer " + full}, {"Authorization", "Bearer " + full}})) ==
              401);
    }
    CHECK(ask("GET", "/admin/v1/stats").refusal.headers == fields{{"WWW-Authenticate", "Bearer realm=\"idem\""}});
    CHECK(ask("GET", "/admin/v1/stats", bearer(full)).what == task::stats);
    CHECK(ask("GET", "/admin/v1/stats", bearer(reader)).what == task::stats);
    CHECK(ask("GET", "/admin/v1/stats", {{"authorization", "bearer " + full}}).what == task::stats);
    CHECK(status(ask("GET", "/admin/v1/nothing", bearer(full))) == 404);
    CHECK(status(ask("GET", "/", bearer(full))) == 404);
}

TEST_CASE("without a read token an empty one opens nothing") {
    admin::rules r{.token = full};
    CHECK(status(ask("GET", "/admin/v1/stats", bearer(" "), r)) == 401);
    CHECK(status(ask("GET", "/admin/v1/stats", bearer(""), r)) == 401);
}

TEST_CASE("entries: readers read, only the full token sees bodies and erases") {
    const std::string path = "/admin/v1/entries/" + key;
    auto d = ask("GET", path, bearer(reader));
    CHECK(d.what == task::find);
    CHECK(idem::to_hex(d.key.value.bytes) == key);
    CHECK_FALSE(d.with_body);
    CHECK(status(ask("GET", path + "?body=1", bearer(reader))) == 403);
    CHECK(ask("GET", path + "?body=1", bearer(full)).with_body);
    CHECK(status(ask("DELETE", path, bearer(reader))) == 403);
    CHECK(ask("DELETE", path, bearer(full)).what == task::erase);
    CHECK(status(ask("POST", path, bearer(full))) == 405);
    for (const auto& bad :
         {std::string(), std::string("aa"), std::string("../stats"), std::string(63, 'a') + "g", key + "/receipts"}) {
        CAPTURE(bad);
        CHECK(status(ask("GET", "/admin/v1/entries/" + bad, bearer(full))) == 404);
    }
}

TEST_CASE("replicas and epochs: readers read, only the full token orders") {
    CHECK(ask("GET", "/admin/v1/replicas", bearer(reader)).what == task::replicas);
    CHECK(ask("GET", "/admin/v1/epochs", bearer(reader)).what == task::epochs);
    CHECK(ask("GET", "/admin/v1/divergences", bearer(reader)).what == task::divergences);
    CHECK(status(ask("POST", "/admin/v1/divergences", bearer(full))) == 405);
    CHECK(status(ask("GET", "/admin/v1/divergences?limit=1", bearer(full))) == 400);
    CHECK(ask("POST", "/admin/v1/epochs", bearer(full)).what == task::open_epoch);
    CHECK(status(ask("POST", "/admin/v1/epochs", bearer(reader))) == 403);
    CHECK(status(ask("DELETE", "/admin/v1/epochs", bearer(full))) == 405);
    CHECK(status(ask("POST", "/admin/v1/replicas", bearer(full))) == 405);
    for (const std::string action : {"attest", "quarantine", "readmit", "drain"}) {
        const std::string path = "/admin/v1/replicas/gpu%2F1/" + action + "?upstream=big%20one";
        const auto d = ask("POST", path, bearer(full));
        CHECK(d.what == task::order);
        CHECK(d.replica == "gpu/1");
        CHECK(d.upstream == "big one");
        CHECK(d.action == action);
        CHECK(status(ask("POST", path, bearer(reader))) == 403);
        CHECK(status(ask("GET", path, bearer(full))) == 405);
    }
    CHECK(ask("POST", "/admin/v1/replicas/a/attest?record=1", bearer(full)).action == "record");
    for (const std::string path : {"a/record", "a/shoot", "a", "/attest", "%zz/attest", "a%4/attest", "a%"}) {
        CAPTURE(path);
        CHECK(status(ask("POST", "/admin/v1/replicas/" + path, bearer(full))) == 404);
    }
}

TEST_CASE("a query says each thing once, and nothing that nobody knows") {
    const std::string attest = "/admin/v1/replicas/a/attest", entry = "/admin/v1/entries/" + std::string(64, 'a');
    const std::string id(32, 'a');
    for (const std::string& path : {attest, attest + "?record=0", attest + "?", attest + "?upstream=u&record=0"})
        CHECK(ask("POST", path, bearer(full)).action == "attest");
    for (const std::string& path : {attest + "?record", attest + "?record=1", attest + "?record=%31"})
        CHECK(ask("POST", path, bearer(full)).action == "record");
    for (const std::string& path :
         {attest + "?record=", attest + "?record=true", attest + "?record=false", attest + "?record=01",
          attest + "?Record=1", attest + "?record=1&record=1", attest + "?records=1", attest + "?record=%3",
          attest + "?upstream=a&upstream=b", attest + "?%zz=1", std::string("/admin/v1/replicas/a/drain?record=1"),
          std::string("/admin/v1/epochs?upstream=u")}) {
        CAPTURE(path);
        CHECK(status(ask("POST", path, bearer(full))) == 400);
    }
    for (const std::string& path : {entry + "?body=yes", entry + "?bodies=1", std::string("/admin/v1/stats?x"),
                                    std::string("/admin/v1/replicas?state=down"), std::string("/admin/v1/epochs?a=b"),
                                    "/admin/v1/ledger/drift?from=" + id + "&to=" + id + "&to=" + id}) {
        CAPTURE(path);
        CHECK(status(ask("GET", path, bearer(full))) == 400);
    }
    CHECK(status(ask("DELETE", entry + "?dry_run=1", bearer(full))) == 400);
    CHECK(ask("POST", attest + "?record=true", bearer(full)).refusal.body.find("expected record=1 or record=0") !=
          std::string::npos);
    // Whoever may not ask at all is told that first.
    CHECK(status(ask("POST", attest + "?record=x", bearer(reader))) == 403);
    CHECK(ask("GET", "/readyz?verbose&exclude=x").verbose);
}

TEST_CASE("only loopback and listed names reach the API") {
    for (const std::string host : {"localhost", "LOCALHOST:8081", "127.0.0.1", "127.8.9.10:1", "[::1]:8081", "[::1]",
                                   "idem.internal", "IDEM.internal:8081"}) {
        CAPTURE(host);
        CHECK(ask("GET", "/livez", {}, rules(), host).what == task::livez);
    }
    for (const std::string host : {"", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8081",
                                   "10.0.0.1", "[::2]:8081", "[::1", "::1"}) {
        CAPTURE(host);
        CHECK(status(ask("GET", "/livez", {}, rules(), host)) == 421);
        CHECK(status(ask("GET", "/admin/v1/stats", bearer(full), rules(), host)) == 421);
    }
    CHECK(status(ask("GET", "/livez", {{"Host", "localhost"}})) == 421);  // two
}

TEST_CASE("pages of other origins are refused") {
    auto with = [](const std::string& origin) {
        auto f = bearer(full);
        f.emplace_back("Origin", origin);
        return f;
    };
    CHECK(ask("GET", "/admin/v1/stats", with("http://127.0.0.1:8081")).what == task::stats);
    for (const std::string origin : {"null", "http://evil.example", "http://127.0.0.1:9999", "file://", ""}) {
        CAPTURE(origin);
        CHECK(status(ask("GET", "/admin/v1/stats", with(origin))) == 403);
    }
}

TEST_CASE("the health listener has probes and metrics and nothing else") {
    const admin::rules r{.health_only = true};
    CHECK(ask("GET", "/readyz", {}, r, "10.1.2.3:9090").what == task::readyz);
    CHECK(ask("GET", "/metrics", {}, r, "10.1.2.3:9090").what == task::metrics);
    CHECK(status(ask("GET", "/admin/v1/stats", bearer(full), r)) == 404);
    CHECK(status(ask("GET", "/admin/v1/stats", bearer(""), r)) == 404);
}

TEST_CASE("drift is asked of two epochs") {
    const std::string a(32, 'a'), b(32, '0');
    const auto d = ask("GET", "/admin/v1/ledger/drift?from=" + a + "&to=" + b, bearer(reader));
    CHECK(d.what == task::drift);
    CHECK(d.before == idem::id128_from_hex(a));
    CHECK(d.after == idem::id128_from_hex(b));
    CHECK(status(ask("GET", "/admin/v1/ledger/drift?from=" + a, bearer(full))) == 400);
    CHECK(status(ask("GET", "/admin/v1/ledger/drift?from=x&to=" + b, bearer(full))) == 400);
    CHECK(status(ask("POST", "/admin/v1/ledger/drift?from=" + a + "&to=" + b, bearer(full))) == 405);
    CHECK(status(ask("GET", "/admin/v1/ledger/drift?from=" + a + "&to=" + b)) == 401);
}

TEST_CASE("a receipt is named by its entry, and by a fill") {
    auto d = ask("GET", "/admin/v1/entries/" + key + "/receipt", bearer(reader));
    CHECK(d.what == task::receipt);
    CHECK(d.key.value == *idem::digest_from_hex(key));
    CHECK(d.fill == idem::id128{});
    d = ask("GET", "/admin/v1/entries/" + key + "/receipt?fill=" + std::string(32, 'b'), bearer(reader));
    CHECK(d.fill == *idem::id128_from_hex(std::string(32, 'b')));
    CHECK(status(ask("GET", "/admin/v1/entries/" + key + "/receipt?fill=x", bearer(full))) == 400);
    CHECK(status(ask("GET", "/admin/v1/entries/x/receipt", bearer(full))) == 404);
    CHECK(status(ask("DELETE", "/admin/v1/entries/" + key + "/receipt", bearer(full))) == 405);
    CHECK(status(ask("GET", "/admin/v1/entries/" + key + "/receipt")) == 401);
}
