// The admin API over a real socket: the server in front, a view that tells what it was asked.
#include "gateway/admin/endpoint.hpp"

#include <doctest/doctest.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <map>
#include <thread>

#include "gateway/cli/healthcheck.hpp"
#include "gateway/http/server.hpp"
#include "tests/support/sample_entry.hpp"

namespace admin = idem::gateway::admin;
namespace net = idem::upstream::net;
namespace asio = boost::asio;

namespace {

struct fake_view final : admin::view {
    bool good = true;
    std::map<std::string, idem::cache::entry_ptr> entries;

    std::vector<admin::check> ready() const override { return {{"store", good, good ? "" : "gone"}}; }
    std::string metrics(bool open_metrics) const override { return open_metrics ? "# EOF\n" : "up 1\n"; }
    boost::json::object stats() const override { return {{"entries", entries.size()}}; }
    net::task<admin::found> find(idem::cache::cache_key key) override {
        admin::found f;
        const auto it = entries.find(idem::to_hex(key.value.bytes));
        if (it != entries.end()) f = {.is = admin::found::status::found, .value = it->second, .tier = "memory"};
        co_return f;
    }
    net::task<admin::entry_list> list(admin::entry_filter wanted) override {
        admin::entry_list l;
        for (const auto& [key, e] : entries)
            if (wanted.model.empty() || e->model == wanted.model) l.entries.push_back(e);
        l.next = wanted.cursor.empty() ? "17" : "";
        co_return l;
    }
    net::task<admin::erased> erase(idem::cache::cache_key key) override {
        admin::erased e;
        if (entries.erase(idem::to_hex(key.value.bytes)) > 0) e.is = admin::erased::status::erased;
        co_return e;
    }
    boost::json::object replicas() const override { return {{"upstreams", boost::json::array()}}; }
    net::task<admin::order_result> order(std::string upstream, std::string replica, std::string action) override {
        orders.push_back(action + " " + replica + " of " + upstream);
        co_return replica == "a/b" ? admin::order_result{} : admin::order_result{404, "no such replica"};
    }
    boost::json::object divergences() const override { return {{"divergences", boost::json::array()}}; }
    boost::json::object epochs_list() const override { return {{"epochs", boost::json::array()}}; }
    net::task<admin::order_result> open_epoch(std::string upstream, std::string why, std::string replica) override {
        orders.push_back("epoch of " + upstream + ": " + why + (replica.empty() ? "" : ", as " + replica));
        co_return admin::order_result{};
    }
    net::task<admin::order_result> activate_epoch(idem::id128 id) override {
        orders.push_back("back to " + idem::to_hex(id.bytes));
        co_return admin::order_result{202, {}, idem::to_hex(id.bytes)};
    }
    net::task<admin::order_result> purge(idem::cache::ban_kind kind, std::string value) override {
        orders.push_back("purge " + std::string(to_string(kind)) + " " + value);
        co_return admin::order_result{};
    }
    net::task<admin::order_result> erase_all(idem::cache::ban_kind kind, std::string value) override {
        orders.push_back("erase " + std::string(to_string(kind)) + " " + value);
        co_return admin::order_result{202, {}, {}, 3};
    }
    net::task<admin::order_result> reach(idem::cache::ban_kind kind, std::string value) override {
        orders.push_back("reach " + std::string(to_string(kind)) + " " + value);
        co_return admin::order_result{200, {}, {}, 5};
    }
    net::task<admin::found_receipt> receipt(idem::cache::cache_key, idem::id128 fill) override {
        co_return fill == idem::id128{} ? admin::found_receipt{200, "{}"} : admin::found_receipt{404, "none"};
    }
    net::task<admin::drift_found> drift(idem::id128 before, idem::id128 after) override {
        admin::drift_found f;
        f.report.both = before == after ? 7 : 3;
        co_return f;
    }
    std::vector<std::string> orders;
};

// A server on a thread of its own.
class running {
public:
    explicit running(admin::rules r) : endpoint_(shown, std::move(r)), server_(io_.get_executor(), endpoint_, {}) {
        const auto error = server_.listen("127.0.0.1", 0, nullptr);
        REQUIRE_MESSAGE(error.empty(), error);
        thread_ = std::thread([this] { io_.run(); });
    }
    ~running() {
        asio::post(io_, [this] { server_.stop(); });
        asio::post(io_, [this] { io_.stop(); });
        thread_.join();
    }
    std::uint16_t port() const { return server_.port(); }

    std::string ask(const std::string& head, const std::string& body = {}) const {
        asio::io_context io;
        asio::ip::tcp::socket s(io);
        s.connect({asio::ip::address_v4::loopback(), port()});
        asio::write(s, asio::buffer(head + "\r\nConnection: close\r\n\r\n" + body));
        std::string out;
        boost::system::error_code ec;
        asio::read(s, asio::dynamic_buffer(out), ec);
        return out;
    }

    fake_view shown;

private:
    asio::io_context io_{1};
    admin::endpoint endpoint_;
    idem::gateway::http::server server_;
    std::thread thread_;
};

const std::string token = "full-token-0123456789";
const std::string auth = "\r\nHost: localhost\r\nAuthorization: Bearer " + token;

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the API over a socket") {
    running at({.token = token});
    const auto e = idem::test::sample("one");
    const auto key = idem::to_hex(e->key.value.bytes);
    at.shown.entries[key] = e;

    CHECK(at.ask("GET /livez HTTP/1.1\r\nHost: localhost").starts_with("HTTP/1.1 200 "));
    CHECK(has(at.ask("GET /metrics HTTP/1.1\r\nHost: localhost"), "up 1\n"));
    const auto refused = at.ask("GET /admin/v1/stats HTTP/1.1\r\nHost: localhost");
    CHECK(refused.starts_with("HTTP/1.1 401 "));
    CHECK(has(refused, "application/problem+json"));
    CHECK(has(at.ask("GET /admin/v1/stats HTTP/1.1" + auth), "{\"entries\":1}"));
    CHECK(at.ask("GET /livez HTTP/1.1\r\nHost: evil.example").starts_with("HTTP/1.1 421 "));

    const auto shown = at.ask("GET /admin/v1/entries/" + key + " HTTP/1.1" + auth);
    CHECK(has(shown, key));
    CHECK_FALSE(has(shown, "answer"));
    CHECK(has(at.ask("GET /admin/v1/entries/" + key + "?body=1 HTTP/1.1" + auth), "{\\\"answer\\\":42}"));
    CHECK(at.ask("DELETE /admin/v1/entries/" + key + " HTTP/1.1\r\nHost: localhost").starts_with("HTTP/1.1 401 "));
    CHECK(has(at.ask("GET /admin/v1/stats HTTP/1.1" + auth), "{\"entries\":1}"));
    CHECK(at.ask("DELETE /admin/v1/entries/" + key + " HTTP/1.1" + auth).starts_with("HTTP/1.1 200 "));
    CHECK(at.ask("DELETE /admin/v1/entries/" + key + " HTTP/1.1" + auth).starts_with("HTTP/1.1 404 "));
}

TEST_CASE("receipts and drift over a socket") {
    running at({.token = token});
    const std::string entry = "GET /admin/v1/entries/" + std::string(64, 'a') + "/receipt", one(32, '1'), two(32, '2');
    CHECK(at.ask(entry + " HTTP/1.1" + auth).ends_with("\r\n\r\n{}"));
    CHECK(at.ask(entry + "?fill=" + one + " HTTP/1.1" + auth).starts_with("HTTP/1.1 404 "));
    const std::string drift = "GET /admin/v1/ledger/drift?from=" + one + "&to=";
    CHECK(has(at.ask(drift + one + " HTTP/1.1" + auth), "\"prompts\":7"));
    CHECK(has(at.ask(drift + two + " HTTP/1.1" + auth), "\"prompts\":3"));
}

TEST_CASE("lists, purges and epochs over a socket") {
    running at({.token = token, .read_token = "reader-token"});
    const auto e = idem::test::sample("one");
    at.shown.entries["k"] = e;
    const auto get = [&](const std::string& target) { return at.ask("GET " + target + " HTTP/1.1" + auth); };
    CHECK(has(get("/admin/v1/entries"), idem::to_hex(e->key.value.bytes)));
    CHECK(has(get("/admin/v1/entries"), "\"next\":\"17\""));
    CHECK(has(get("/admin/v1/entries?cursor=17&limit=1000"), "\"next\":null"));
    CHECK(has(get("/admin/v1/entries?model=none"), "\"entries\":[]"));
    for (const auto* bad : {"?limit=0", "?limit=1001", "?limit=x", "?cursor=x", "?colour=red", "?model=a&model=b"})
        CHECK_MESSAGE(get(std::string("/admin/v1/entries") + bad).starts_with("HTTP/1.1 400 "), bad);
    const auto post = [&](const std::string& target, const std::string& body, const std::string& as) {
        return at.ask("POST " + target + " HTTP/1.1" + as + "\r\nContent-Length: " + std::to_string(body.size()), body);
    };
    const std::string id(32, 'a'), reader = "\r\nHost: localhost\r\nAuthorization: Bearer reader-token";
    CHECK(post("/admin/v1/purge", R"({"tag":"t"})", auth).starts_with("HTTP/1.1 202 "));
    CHECK(has(post("/admin/v1/purge", R"({"all":true,"dry_run":true})", auth), "{\"entries\":5}"));
    CHECK(has(post("/admin/v1/erase", R"({"model":"m"})", auth), "\"entries\":3"));
    CHECK(has(post("/admin/v1/epochs/" + id + "/activate", "{}", auth), "\"epoch\":\"" + id));
    CHECK(at.shown.orders == std::vector<std::string>{"purge tag t", "reach all ", "erase model m", "back to " + id});
    for (const auto* target : {"/admin/v1/purge", "/admin/v1/erase"}) {
        CHECK(post(target, "{", auth).starts_with("HTTP/1.1 400 "));
        CHECK(post(target, R"({"all":true})", reader).starts_with("HTTP/1.1 403 "));
        CHECK(get(target).starts_with("HTTP/1.1 405 "));
    }
    CHECK(post("/admin/v1/epochs/" + id + "/activate", "{}", reader).starts_with("HTTP/1.1 403 "));
    CHECK(post("/admin/v1/epochs/12/activate", "{}", auth).starts_with("HTTP/1.1 404 "));
    CHECK(at.shown.orders.size() == 4);
}

TEST_CASE("orders over a socket") {
    running at({.token = token});
    CHECK(at.ask("POST /admin/v1/replicas/a%2Fb/drain?upstream=u HTTP/1.1" + auth + "\r\nContent-Length: 0")
              .starts_with("HTTP/1.1 202 "));
    CHECK(has(at.ask("POST /admin/v1/replicas/c/attest HTTP/1.1" + auth + "\r\nContent-Length: 0"), "no such replica"));
    const auto epoch = [&](const std::string& body) {
        return at.ask("POST /admin/v1/epochs HTTP/1.1" + auth + "\r\nContent-Length: " + std::to_string(body.size()),
                      body);
    };
    CHECK(epoch(R"({"upstream":"u","reason":"upgrade"})").starts_with("HTTP/1.1 202 "));
    for (const std::string body : {"", "{}", "[]", R"({"upstream":1})", R"({"upstream":"u","reason":[]})"})
        CHECK(epoch(body).starts_with("HTTP/1.1 400 "));
    CHECK(has(epoch(R"({"upstream":"u","reason":"r","upstream":"v"})"), R"(\"upstream\" comes twice)"));
    CHECK(has(epoch(R"({"upstream":"u","reason":"r","up\u0073tream":"v"})"), R"(\"upstream\" comes twice)"));
    CHECK(has(epoch(R"({"upstream":"u"})"), R"(\"reason\" is missing)"));
    CHECK(has(epoch(R"({"upstream":"u","reason":""})"), R"(\"reason\" must be a text that is not empty)"));
    CHECK(has(epoch(R"({"upstream":"u","reason":"r","all":true})"), R"(no member \"all\" is known)"));
    CHECK(has(epoch(R"({"upstream":"u","reason":"r"} x)"), "not JSON"));
    CHECK(at.shown.orders == std::vector<std::string>{"drain a/b of u", "attest c of ", "epoch of u: upgrade"});
}

TEST_CASE("bodies are swallowed up to a cap") {
    running at({.token = token});
    const auto with = [&](std::size_t n) {
        return at.ask("DELETE /admin/v1/entries/" + std::string(64, 'a') + " HTTP/1.1" + auth +
                          "\r\nContent-Length: " + std::to_string(n),
                      std::string(n, 'x'));
    };
    CHECK(with(1000).starts_with("HTTP/1.1 404 "));
    CHECK(with(admin::body_cap + 1).starts_with("HTTP/1.1 413 "));
}

TEST_CASE("healthcheck follows readiness") {
    running at({.health_only = true});
    const idem::gateway::config::address here{"0.0.0.0", at.port()};
    CHECK(idem::gateway::cli::not_ready(here, std::chrono::seconds(10)) == "");
    at.shown.good = false;
    CHECK(idem::gateway::cli::not_ready(here, std::chrono::seconds(10)) ==
          "not ready: 127.0.0.1:" + std::to_string(at.port()) + " answers /readyz with 503");
    const auto told = at.ask("GET /readyz HTTP/1.1\r\nHost: 10.0.0.1");
    CHECK(told.starts_with("HTTP/1.1 503 "));
    CHECK(has(told, "[-]store failed: gone"));
}

TEST_CASE("healthcheck where nobody listens") {
    asio::io_context io;
    asio::ip::tcp::acceptor bound(io, {asio::ip::address_v4::loopback(), 0});
    const auto port = bound.local_endpoint().port();
    bound.close();
    CHECK(idem::gateway::cli::not_ready({"127.0.0.1", port}, std::chrono::seconds(10)) ==
          "nothing listens on 127.0.0.1:" + std::to_string(port) +
              " (connection refused): the gateway does not run, or its admin address is another");
}
