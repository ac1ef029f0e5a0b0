#include "upstream/client/target.hpp"

#include <doctest/doctest.h>

using namespace idem::upstream::client;

TEST_CASE("URLs of replicas") {
    struct row {
        std::string_view url, host;
        std::uint16_t port;
        bool tls;
        std::string_view base, authority;
    };
    const row rows[] = {
        {"http://10.0.0.1:8000", "10.0.0.1", 8000, false, "", "10.0.0.1:8000"},
        {"http://10.0.0.1:8000/", "10.0.0.1", 8000, false, "", "10.0.0.1:8000"},
        {"http://engine/v1", "engine", 80, false, "/v1", "engine"},
        {"http://engine:80/v1//", "engine", 80, false, "/v1", "engine"},
        {"https://api.openai.com/v1", "api.openai.com", 443, true, "/v1", "api.openai.com"},
        {"HTTPS://API.example:8443/a/b/", "API.example", 8443, true, "/a/b", "API.example:8443"},
        {"http://[::1]:8080", "::1", 8080, false, "", "[::1]:8080"},
        {"http://h/a%20b", "h", 80, false, "/a%20b", "h"},
    };
    for (const row& r : rows) {
        CAPTURE(r.url);
        std::string error;
        const auto t = parse_url(r.url, error);
        REQUIRE_MESSAGE(t, error);
        CHECK(t->host == r.host);
        CHECK(t->port == r.port);
        CHECK(t->tls == r.tls);
        CHECK(t->base_path == r.base);
        CHECK(t->authority() == r.authority);
    }
}

TEST_CASE("URLs that are refused, with a reason") {
    for (const std::string_view url :
         {"", "engine:8000", "localhost", "ftp://h", "http://", "http://:80", "http://u:p@h", "http://h?x=1",
          "http://h#f", "http://h:0", "http://h:99999", "http://h:x", "http://a b", "http://h/a b", "http://h/\r\nX: y",
          "//h", "http://%2fetc", "http://[::1"}) {
        CAPTURE(url);
        std::string error;
        CHECK_FALSE(parse_url(url, error));
        CHECK_FALSE(error.empty());
    }
}

TEST_CASE("joining a base path collapses a doubled version") {
    struct row {
        std::string_view base, path, joined;
    };
    const row rows[] = {
        {"", "/v1/models", "/v1/models"},
        {"/v1", "/v1/models", "/v1/models"},
        {"/v1", "/v1", "/v1"},
        {"/v1", "/v1?x=1", "/v1?x=1"},
        {"/v1", "/models", "/v1/models"},
        {"/v1", "/v1beta/models", "/v1/v1beta/models"},
        {"/v1", "/v2/models", "/v1/v2/models"},
        {"/openai/v1", "/v1/chat/completions", "/openai/v1/chat/completions"},
        {"/openai", "/v1/chat/completions", "/openai/v1/chat/completions"},
        {"/api", "/api/chat", "/api/api/chat"},
        {"/v1beta", "/v1beta/models/m:generateContent", "/v1beta/models/m:generateContent"},
        {"/v1", "*", "*"},
        {"/v1", "/", "/v1/"},
    };
    for (const row& r : rows) {
        CAPTURE(r.base);
        CAPTURE(r.path);
        target t;
        t.base_path = r.base;
        CHECK(t.join(r.path) == r.joined);
    }
}

TEST_CASE("a server's own pages lie beside its API") {
    std::string error;
    for (const auto& [url, base] : std::initializer_list<std::pair<std::string, std::string>>{
             {"http://h:1", ""}, {"http://h:1/v1", ""}, {"http://h:1/a/v1/", "/a"}, {"http://h:1/av1", "/av1"}}) {
        const auto to = idem::upstream::client::parse_url(url, error);
        REQUIRE(to);
        CHECK(idem::upstream::client::beside_api(*to).base_path == base);
    }
}

TEST_CASE("one server has one name, however its URL is spelt") {
    std::string error;
    const auto name = [&](const std::string& url) {
        const auto to = idem::upstream::client::parse_url(url, error);
        REQUIRE_MESSAGE(to, url, " ", error);
        return idem::upstream::client::server_of(*to);
    };
    for (const std::string url :
         {"http://127.0.0.1:80", "http://localhost", "http://LOCALHOST.:80/v1", "http://[::1]/", "http://127.1/v1/",
          "http://0x7f000001:80", "http://2130706433/v1", "http://[::ffff:127.0.0.1]", "http://0.0.0.0",
          "http://[0:0:0:0:0:0:0:1]/v1", "http://any.localhost", "https://127.0.0.1:80"}) {
        CAPTURE(url);
        CHECK(name(url) == "localhost:80");
    }
    CHECK(name("http://[2001:DB8::0001]:8000/v1") == name("http://[2001:db8:0:0:0:0:0:1]:8000"));
    CHECK(name("http://Engine.Example:8000") == name("http://engine.example.:8000/v1"));
    // Others are others.
    CHECK(name("http://h:1") != name("http://h:2"));
    CHECK(name("http://h:1/a/v1") != name("http://h:1/b/v1"));
    CHECK(name("http://h:1/a") == name("http://h:1/a/v1"));
    CHECK(name("http://127.0.0.1") != name("http://127.0.0.2"));
    CHECK(name("http://a.example") != name("http://b.example"));
}
