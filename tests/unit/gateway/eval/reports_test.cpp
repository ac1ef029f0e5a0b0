// What is said of a recording: intervals, log-probabilities, and the reports as they are written.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "gateway/eval/report.hpp"
#include "tests/unit/gateway/eval/recordings.hpp"

using namespace idem::gateway::eval;

TEST_CASE("log-probabilities that drift are told and decide nothing") {
    recording all = steady();
    const auto told = [](std::string_view second) {
        std::string body = answer("the same words");
        const std::string more =
            R"("logprobs":{"content":[{"token":"the","logprob":-0.5},{"token":" same","logprob":)" +
            std::string(second) + R"(},{"token":"odd"},7]},)";
        body.insert(body.find(R"("finish_reason")"), more);
        return body;
    };
    for (run_record& r : all.runs)
        if (r.cell == "noise" && r.prompt == "one") r.body = told("-1.25");
    CHECK(says(all) == verdict::deterministic);
    CHECK(most_drift(summarise(all, 1)) == nullptr);
    a_run(all, "noise", "one", 7).body = told("-1.5");
    const summary s = summarise(all, 1);
    CHECK(s.says == verdict::deterministic);
    const result* r = most_drift(s);
    REQUIRE(r);
    CHECK(r->prompt == "one");
    CHECK(r->logprobs.compared == 59 * 2);
    CHECK(r->logprobs.differing == 1);
    CHECK(r->logprobs.largest == doctest::Approx(0.25));
    CHECK(report_markdown(all, s).find("differ by up to 0.250000") != std::string::npos);
    CHECK(report_html(all, s).find("differ by up to 0.250000") != std::string::npos);
    CHECK(report_json(all, s).find("\"logprobs\":{\"compared\":118") != std::string::npos);
}

TEST_CASE("intervals of what was seen") {
    recording all = steady();
    for (unsigned run = 0; run < 12; ++run) a_run(all, "noise", "one", run).body = answer("other words");
    const summary s = summarise(all, 1);
    const auto r =
        std::ranges::find_if(s.results, [](const result& x) { return x.cell == "noise" && x.prompt == "one"; });
    REQUIRE(r != s.results.end());
    const auto wilson = idem::upstream::determinism::wilson(12, 60, 0.95);
    CHECK(r->flip_rate.low == wilson.low);
    CHECK(r->flip_rate.high == wilson.high);
    // Two prompts in one lifetime: both may be drawn, or one of them twice.
    CHECK(s.cells[1].flip_rate.low == 0);
    CHECK(s.cells[1].flip_rate.high == doctest::Approx(0.2));
    CHECK(s.cells[0].flip_rate.high == 0);
    CHECK(report_markdown(all, s).find("0.00 % to 20.00 %") != std::string::npos);
}

TEST_CASE("a run that is itself the reference is no comparison") {
    const summary s = summarise(steady(), 1);
    const double each = idem::upstream::determinism::corrected(0.95, 2);
    CHECK(s.cells[0].bound == idem::upstream::determinism::upper_bound(0, 59, each));
    CHECK(s.cells[1].bound == idem::upstream::determinism::upper_bound(0, 60, each));
}

TEST_CASE("the reports of one recording are those of tests/golden/eval") {
    recording all = steady();
    const std::string evil = "</td><script>alert(1)</script> | `x` ]]> & \"\x01";
    for (prompt& p : all.about.prompts)
        if (p.id == "two") p.id = evil;
    for (run_record& r : all.runs)
        if (r.prompt == "two") r.prompt = evil;
    a_run(all, "noise", evil, 13).body = answer("the same <b>word</b>, 中文");
    a_run(all, "noise", "one", 0).status = 500;
    for (run_record& r : all.runs) r.total_ms = 10 + r.run;
    all.about.target = "http://127.0.0.1:8000";
    all.about.engine = "vllm";
    all.about.model = "m<1>";
    all.about.preset = "gate";
    all.about.seed = 7;
    all.about.started = 1700000000000;
    all.about.environment = "e";
    all.about.facts = {"engine_version=1 (reported)"};
    all.about.skipped = {{"history", "the API takes no <seed>"}};
    const summary s = summarise(all, 2);
    const std::filesystem::path root = std::filesystem::path(IDEM_SOURCE_DIR) / "tests" / "golden" / "eval";
    for (const auto& [name, said] : {std::pair{"report.json", report_json(all, s)},
                                     {"report.md", report_markdown(all, s)},
                                     {"junit.xml", report_junit(all, s)},
                                     {"report.html", report_html(all, s)}}) {
        CAPTURE(name);
        if (std::getenv("IDEM_WRITE_GOLDEN") != nullptr) std::ofstream(root / name, std::ios::binary) << said;
        std::ifstream file(root / name, std::ios::binary);
        std::stringstream golden;
        golden << file.rdbuf();
        CHECK(said == golden.str());
    }
}
