// `promtool check metrics` over a scrape: the linter of Prometheus itself. Skipped, aloud, where it is not installed.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

#include "gateway/observe/metrics.hpp"

namespace observe = idem::gateway::observe;

TEST_CASE("promtool accepts the metrics") {
    if (std::system("command -v promtool >/dev/null 2>&1") != 0) {
        MESSAGE("SKIPPED: promtool is not installed");
        return;
    }
    observe::metrics m(2);
    m.request(
        0,
        {.dialect = "openai.chat", .upstream = "default", .status = 200, .what = idem::outcome::hit, .tier = "memory"});
    m.request(1, {.dialect = "openai.chat",
                  .upstream = "default",
                  .status = 200,
                  .what = idem::outcome::bypass,
                  .why = idem::reason::policy_bypass});
    m.upstream_request(0, "default", 200, 12);
    m.upstream_error(0, "default", idem::reason::upstream_timeout);
    m.store_error(0, "redis", "put", idem::reason::store_timeout);
    m.not_stored(0, idem::reason::terminal_missing);
    m.stored(0, "embedded");
    std::FILE* tool = popen("promtool check metrics 2>&1", "w");
    REQUIRE(tool != nullptr);
    const auto text = m.scrape(false);
    CHECK(std::fwrite(text.data(), 1, text.size(), tool) == text.size());
    CHECK(pclose(tool) == 0);
}
