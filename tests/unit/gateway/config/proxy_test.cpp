#include "gateway/config/proxy.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace idem;
using namespace idem::gateway::config;

namespace {

std::string refusal(std::string_view url) {
    std::string why;
    CHECK_FALSE(parse_proxy(url, why));
    return why;
}

upstream::client::target to(std::string_view url) {
    std::string why;
    return upstream::client::parse_url(url, why).value();
}

/// HOST:PORT of the proxy, "" for none, "!" and why for a bad one.
std::string chosen(std::string_view url, const std::map<std::string, std::string>& environment) {
    std::string variable, why;
    const auto look_up = [&](const std::string& name) -> std::optional<std::string> {
        const auto at = environment.find(name);
        return at == environment.end() ? std::nullopt : std::optional(at->second);
    };
    const auto got = proxy_of_environment(to(url), look_up, variable, why);
    if (!got) return "!" + variable + " " + why;
    return *got ? got->host + ":" + std::to_string(got->port) : "";
}

}  // namespace

TEST_CASE("a proxy's URL") {
    std::string why;
    auto p = parse_proxy("http://proxy", why);
    REQUIRE(p);
    CHECK(p->host == "proxy");
    CHECK(p->port == 3128);
    CHECK(p->authorization.empty());
    p = parse_proxy("http://user:p%40ss@[::1]:8080/", why);
    REQUIRE(p);
    CHECK(p->host == "::1");
    CHECK(p->port == 8080);
    CHECK(p->authorization == "Basic dXNlcjpwQHNz");
    CHECK(refusal("proxy:3128") == "must begin with http://");
    CHECK(refusal("https://proxy") == "must begin with http://");
    CHECK(refusal("http://proxy/path") == "must end with its host and port");
    CHECK(refusal("http://u:canary@proxy:99999") == "has a port outside 1 to 65535");
    CHECK(refusal("http://") == "names no host");
    CHECK(refusal("") == "is not a URL like http://host:3128");
}

TEST_CASE("the environment's proxy, by the server's scheme") {
    const std::map<std::string, std::string> both{{"http_proxy", "http://plain:1"}, {"HTTPS_PROXY", "secure:2"}};
    CHECK(chosen("http://h", both) == "plain:1");
    CHECK(chosen("https://h", both) == "secure:2");
    CHECK(chosen("http://h", {{"HTTP_PROXY", "http://a:1"}, {"http_proxy", "http://b:2"}}) == "b:2");
    CHECK(chosen("http://h", {{"HTTPS_PROXY", "http://a:1"}}) == "");
    CHECK(chosen("http://h", {}) == "");
    CHECK(chosen("http://h", {{"http_proxy", ""}, {"HTTP_PROXY", "http://a:1"}}) == "a:1");
    CHECK(chosen("http://h", {{"HTTP_PROXY", "socks5://a:1"}}) == "!HTTP_PROXY must begin with http://");
    for (const char* here : {"http://localhost", "http://x.localhost", "http://127.1.2.3", "http://[::1]"}) {
        CHECK(chosen(here, both) == "");
    }
}

TEST_CASE("exceptions") {
    const auto free = [](std::string_view url, const std::string& exceptions) {
        return chosen(url, {{"HTTP_PROXY", "http://p:1"}, {"NO_PROXY", exceptions}}).empty();
    };
    CHECK(free("http://h.example.com", "example.com"));
    CHECK(free("http://example.com", "a.b, .Example.com ,c"));
    CHECK(free("http://h.example.com", "*.example.com"));
    CHECK_FALSE(free("http://badexample.com", "example.com"));
    CHECK_FALSE(free("http://example.com.evil", "example.com"));
    CHECK(free("http://h:8000", "h:8000"));
    CHECK_FALSE(free("http://h:8001", "h:8000"));
    CHECK(free("http://10.1.2.3:8000", "10.0.0.0/8"));
    CHECK(free("http://10.1.2.3:8000", "10.1.2.3"));
    CHECK_FALSE(free("http://11.1.2.3", "10.0.0.0/8"));
    CHECK_FALSE(free("http://10.1.2.3", "2.3"));
    CHECK(free("http://[fd00::1]:80", "fd00::/8"));
    CHECK(free("http://[fd00::1]:81", "[fd00::1]:81"));
    CHECK(free("http://anything", "*"));
    CHECK_FALSE(free("http://h", ""));
    CHECK_FALSE(free("http://h", ", ,."));
}
