// Everything that a running gateway exports: the families that requests fill and the gauges that are read off their
// owners.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "gateway/app/runtime.hpp"
#include "tests/support/temp_dir.hpp"

namespace app = idem::gateway::app;
namespace config = idem::gateway::config;
using idem::outcome;
using idem::reason;

namespace {

// A gateway with every part that has metrics, opened but not serving, in which each family has a sample.
class opened {
public:
    opened() : all_(settings(data_)) {
        REQUIRE(all_.open() == "");
        auto& m = all_.metrics();
        m.request(0, {.dialect = "openai.chat",
                      .upstream = "default",
                      .status = 200,
                      .what = outcome::hit,
                      .tier = "memory",
                      .duration_us = 90,
                      .ttfb_us = 80});
        m.request(0, {.upstream = "default", .status = 429, .what = outcome::bypass, .why = reason::policy_bypass});
        m.upstream_request(0, "default", 200, 1200);
        m.upstream_error(0, "default", reason::upstream_connect);
        m.store_error(0, "embedded", "get", reason::store_timeout);
        m.not_stored(0, reason::status_not_ok);
        m.stored(0, "embedded");
        m.ledger(0, "written");
        m.output_changed(0, "default", idem::upstream::determinism::contrast::drift);
    }
    std::string scrape() { return all_.metrics().scrape(false); }

private:
    static config::snapshot settings(const idem::test::temp_dir& data) {
        config::configuration c;
        c.listen.at.port = c.admin.at.port = 0;
        c.listen.threads = 1;
        c.data = c.cache.embedded_path = data.path().string();
        c.upstreams = {{.name = "default"}};
        c.receipts.key_file = c.data + "/receipts/key.pem";
        c.receipts.heads_file = c.data + "/receipts/heads.jsonl";
        c.policies = {{.name = "relaxed", .base = "relaxed", .receipts = true}};
        c.routes = {{.name = "default", .upstream = "default"}};
        return std::make_shared<const config::configuration>(std::move(c));
    }

    idem::test::temp_dir data_;
    app::runtime all_;
};

}  // namespace

TEST_CASE("golden: names, types and labels of the metrics") {
    opened gateway;
    std::istringstream lines(gateway.scrape());
    std::set<std::string> names;
    std::string type;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("# TYPE ")) type = line.substr(7);
        if (line.starts_with("#")) continue;
        std::string labels;
        const auto open = line.find('{');
        if (open != std::string::npos) {
            std::istringstream parts(line.substr(open + 1, line.find('}') - open - 1));
            for (std::string part; std::getline(parts, part, ',');) {
                const auto name = part.substr(0, part.find('='));
                if (name != "le") labels += (labels.empty() ? "" : ",") + name;
            }
        }
        names.insert(type + " {" + labels + "}");
    }
    std::string said;
    for (const auto& n : names) said += n + "\n";
    const auto golden = std::filesystem::path(IDEM_SOURCE_DIR) / "tests/golden/metrics.txt";
    if (std::getenv("IDEM_WRITE_GOLDEN") != nullptr) std::ofstream(golden) << said;
    std::ostringstream expected;
    expected << std::ifstream(golden).rdbuf();
    CHECK(said == expected.str());
}

// The linter of Prometheus itself. Skipped, aloud, where it is not installed.
TEST_CASE("promtool accepts the metrics") {
    if (std::system("command -v promtool >/dev/null 2>&1") != 0) {
        MESSAGE("SKIPPED: promtool is not installed");
        return;
    }
    opened gateway;
    std::FILE* tool = popen("promtool check metrics 2>&1", "w");
    REQUIRE(tool != nullptr);
    const auto text = gateway.scrape();
    CHECK(std::fwrite(text.data(), 1, text.size(), tool) == text.size());
    CHECK(pclose(tool) == 0);
}
