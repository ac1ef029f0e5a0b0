#include "gateway/observe/metrics.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <thread>
#include <vector>

#include "gateway/observe/exposition.hpp"
#include "gateway/observe/shard.hpp"

namespace observe = idem::gateway::observe;
using idem::outcome;
using idem::reason;

namespace {

bool has(const std::string& text, const std::string& line) {
    return text.find(line + "\n") != std::string::npos;
}

// One of everything, so that every family has a sample.
void fill(observe::metrics& m) {
    m.request(0, {.dialect = "openai.chat",
                  .upstream = "default",
                  .status = 200,
                  .what = outcome::hit,
                  .tier = "memory",
                  .duration_us = 90,
                  .ttfb_us = 80,
                  .tokens_in = 7,
                  .tokens_out = 9,
                  .saved_ms = 1500});
    m.request(0, {.upstream = "default", .status = 429, .what = outcome::bypass, .why = reason::not_cacheable_path});
    m.upstream_request(0, "default", 200, 1200);
    m.upstream_error(0, "default", reason::upstream_connect);
    m.store_error(0, "redis", "get", reason::store_timeout);
    m.not_stored(0, reason::status_not_ok);
    m.stored(0, "memory");
    m.provide("idem_entries", "Entries in a tier.", "gauge", "tier=\"memory\"", [] { return 3; });
}

}  // namespace

TEST_CASE("what is recorded is what is scraped") {
    observe::metrics m(2);
    fill(m);
    // The second thread meets the labels in another order, and so numbers them differently.
    m.request(1, {.dialect = "openai.embeddings", .upstream = "other-pool", .status = 200, .what = outcome::miss});
    m.request(1,
              {.dialect = "openai.chat", .upstream = "default", .status = 200, .what = outcome::hit, .tier = "redis"});
    m.request(7,
              {.dialect = "openai.chat", .upstream = "default", .status = 299, .what = outcome::hit, .tier = "redis"});
    const auto text = m.scrape(false);
    CHECK(has(text, R"(idem_requests_total{api="openai.chat",upstream="default",code="200",cache="HIT"} 2)"));
    CHECK(has(text, R"(idem_requests_total{api="openai.chat",upstream="default",code="2xx",cache="HIT"} 1)"));
    CHECK(has(text, R"(idem_requests_total{api="openai.embeddings",upstream="other-pool",code="200",cache="MISS"} 1)"));
    CHECK(has(text, R"(idem_requests_total{api="passthrough",upstream="default",code="429",cache="BYPASS"} 1)"));
    CHECK(has(text, R"(idem_bypass_total{reason="not_cacheable_path"} 1)"));
    CHECK(has(text, R"(idem_hits_total{tier="redis"} 2)"));
    CHECK(has(text, R"(idem_request_duration_seconds_bucket{cache="HIT",le="0.00005"} 2)"));
    CHECK(has(text, R"(idem_request_duration_seconds_bucket{cache="HIT",le="0.0001"} 3)"));
    CHECK(has(text, R"(idem_request_duration_seconds_count{cache="HIT"} 3)"));
    CHECK(has(text, R"(idem_upstream_request_duration_seconds_bucket{upstream="default",le="1"} 0)"));
    CHECK(has(text, R"(idem_upstream_request_duration_seconds_bucket{upstream="default",le="2.5"} 1)"));
    CHECK(has(text, R"(idem_upstream_request_duration_seconds_sum{upstream="default"} 1.2)"));
    CHECK(has(text, R"(idem_store_errors_total{tier="redis",operation="get",reason="store_timeout"} 1)"));
    CHECK(has(text, R"(idem_saved_tokens_total{direction="in"} 7)"));
    CHECK(has(text, "idem_saved_upstream_seconds_total 1.5"));
    CHECK(has(text, R"(idem_entries{tier="memory"} 3)"));
    CHECK(m.total(outcome::hit) == 3);
    CHECK(m.total(outcome::bypass) == 1);
    CHECK(m.total(reason::not_cacheable_path) == 1);
    CHECK(m.total(reason::body_not_json) == 0);
}

TEST_CASE("OpenMetrics names counters' families without _total and ends in EOF") {
    observe::metrics m(1);
    fill(m);
    const auto text = m.scrape(true);
    CHECK(has(text, "# TYPE idem_requests counter"));
    CHECK(text.ends_with("# EOF\n"));
}

TEST_CASE("made-up labels cannot grow without bound") {
    observe::metrics m(1);
    for (unsigned i = 0; i < 20000; ++i) {
        const auto api = "api-" + std::to_string(i % 200), upstream = "up-" + std::to_string(i % 100);
        m.request(0,
                  {.dialect = api, .upstream = upstream, .status = 100 + i % 600, .what = static_cast<outcome>(i % 6)});
    }
    const auto text = m.scrape(false);
    std::uint64_t series = 0, sum = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("idem_requests_total{")) continue;
        ++series;
        sum += std::stoull(line.substr(line.rfind(' ')));
    }
    CHECK(sum == 20000);  // nothing is lost, it is only told less finely
    CHECK(series <= observe::detail::cell_table::full + 1);
    CHECK(text.find("api=\"other\"") != std::string::npos);
    CHECK(text.find("api=\"api-199\"") == std::string::npos);
}

TEST_CASE("threads record while others scrape") {
    observe::metrics m(3);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 5; ++t) {  // 3 and 4 share the locked shard
        threads.emplace_back([&m, t] {
            for (int i = 0; i < 2000; ++i) {
                m.request(t, {.dialect = "openai.chat",
                              .upstream = "u" + std::to_string(t),
                              .status = 200,
                              .what = outcome::miss});
                m.stored(t, "memory");
            }
        });
    }
    for (int i = 0; i < 5; ++i) CHECK(m.scrape(false).size() > 100);
    for (auto& t : threads) t.join();
    CHECK(m.total(outcome::miss) == 10000);
    CHECK(has(m.scrape(false), R"(idem_stored_total{tier="memory"} 10000)"));
}

TEST_CASE("label values are escaped") {
    CHECK(observe::exposition::label("a", "x\"\\\ny") == "a=\"x\\\"\\\\\\ny\"");
}
