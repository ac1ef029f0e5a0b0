#include "gateway/admin/render.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/sample_entry.hpp"

namespace admin = idem::gateway::admin;
namespace cache = idem::cache;

TEST_CASE("readiness") {
    CHECK(admin::render_ready({{"store", true, ""}}, false).body == "ok\n");
    CHECK(admin::render_ready({{"store", true, "redis"}, {"listener", true, ""}}, true).body ==
          "[+]store ok: redis\n[+]listener ok\nreadyz check passed\n");
    const auto worn = admin::render_ready({{"store", true, "breaker open", true}, {"listener", true, ""}}, true);
    CHECK(worn.status == 200);
    CHECK(worn.body == "[!]store degraded: breaker open\n[+]listener ok\nreadyz check passed\n");
    const auto r = admin::render_ready({{"store", true, ""}, {"draining", false, "SIGTERM"}}, false);
    CHECK(r.status == 503);
    CHECK(r.body == "[+]store ok\n[-]draining failed: SIGTERM\nreadyz check failed\n");
}

TEST_CASE("golden: an entry, without and with its body") {
    const auto e = idem::test::sample("golden", "{\"a\":\"\xc3\xa4\xff\"}\n");
    const admin::found f{.is = admin::found::status::found, .value = e, .tier = "memory"};
    const auto brief = admin::render_found(f, false, e->created + 5000);
    const auto whole = admin::render_found(f, true, e->created + 5000);
    CHECK(brief.status == 200);
    CHECK(brief.body.find("body\"") == std::string::npos);
    boost::system::error_code ec;
    const auto parsed = boost::json::parse(whole.body, ec);
    REQUIRE_FALSE(ec);
    CHECK(parsed.at("body").as_string() == "{\"a\":\"\xc3\xa4\xef\xbf\xbd\"}\n");
    CHECK(parsed.at("age_seconds") == 5);
    const auto golden = std::filesystem::path(IDEM_SOURCE_DIR) / "tests/golden/admin_entry.json";
    if (std::getenv("IDEM_WRITE_GOLDEN") != nullptr) std::ofstream(golden) << brief.body;
    std::ostringstream expected;
    expected << std::ifstream(golden).rdbuf();
    CHECK(brief.body == expected.str());
}

TEST_CASE("errors are problem details") {
    const auto r = admin::render_found({}, false, 0);
    CHECK(r.status == 404);
    CHECK(r.content_type == "application/problem+json");
    CHECK(r.body ==
          "{\"type\":\"about:blank\",\"title\":\"Not Found\",\"status\":404,\"detail\":\"no entry has this key\"}\n");
    CHECK(admin::render_found({.is = admin::found::status::failed, .why = "breaker open"}, false, 0).status == 503);
    CHECK(admin::render_erased({.is = admin::erased::status::erased}).body ==
          "{\"erased\":true,\"fill_invalidated\":false}\n");
    const auto stopped = admin::render_erased({.is = admin::erased::status::absent, .fill = true});
    CHECK(stopped.status == 200);
    CHECK(stopped.body == "{\"erased\":false,\"fill_invalidated\":true}\n");
    CHECK(admin::render_erased({}).status == 404);
    CHECK(admin::render_erased({.is = admin::erased::status::failed}).status == 503);
}

TEST_CASE("heads forbid storing and sniffing") {
    auto r = admin::problem(405, "x");
    r.headers.emplace_back("Allow", "GET");
    CHECK(admin::head_of(r) ==
          "HTTP/1.1 405 Method Not Allowed\r\nContent-Type: application/problem+json\r\nCache-Control: no-store\r\n"
          "X-Content-Type-Options: nosniff\r\nAllow: GET\r\n");
}

TEST_CASE("drift in numbers") {
    admin::drift_found f;
    idem::id128 before, after;
    after.bytes[0] = 0xb0;
    f.report = {4, 3, 1, 1, 1, 2, 5};
    CHECK(
        admin::render_drift(f, before, after).body ==
        R"({"from":"00000000000000000000000000000000","to":"b0000000000000000000000000000000","prompts":4,"changed":3,)"
        R"("share":7.5E-1,"divergences":1,"drifts":1,"variations":1,"only_from":2,"only_to":5})"
        "\n");
    CHECK(admin::render_drift({}, before, after).body.find("\"share\":null") != std::string::npos);
    const auto none = admin::render_drift({{}, 409, "there is no ledger"}, before, after);
    CHECK(none.status == 409);
    CHECK(none.content_type == "application/problem+json");
}
