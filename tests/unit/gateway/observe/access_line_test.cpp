#include "gateway/observe/access_line.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace observe = idem::gateway::observe;

TEST_CASE("golden: lines of the access log") {
    observe::clock_text clock;
    observe::access_record hit;
    hit.unix_us = 1'796'043'600'123'456;
    hit.request_id = "req_01";
    hit.client = "127.0.0.1";
    hit.method = "POST";
    hit.path = "/v1/chat/completions";
    hit.dialect = "openai.chat";
    hit.model = "qwen";
    hit.upstream = "default";
    hit.replica = "r1";
    hit.route = "route-1";
    hit.policy = "relaxed";
    hit.status = 200;
    hit.what = idem::outcome::hit;
    hit.tier = "memory";
    hit.key_hex = "0123456789abcdef";
    hit.age_s = 0;
    hit.bytes_in = 600;
    hit.bytes_out = 1300;
    hit.duration_us = 87;
    hit.ttfb_us = 85;
    hit.tokens_in = 12;
    hit.tokens_out = 34;
    auto miss = hit;
    miss.what = idem::outcome::miss;
    miss.why = idem::reason::client_gone;
    miss.tier = {};
    miss.age_s = -1;
    miss.stream = miss.aborted = true;
    miss.upstream_status = 200;
    miss.upstream_ms = 1234;
    miss.retries = 1;
    miss.duration_us = 1'234'567;
    observe::access_record refused;
    refused.unix_us = 1'796'043'600'999'999;
    refused.status = 400;
    refused.path = "/a\"b\\c\x01\xff\xc3\xa4";
    refused.why = idem::reason::bad_request;

    std::string said;
    for (const auto& r : {hit, miss, refused}) observe::append_access_line(said, r, clock);
    const auto golden = std::filesystem::path(IDEM_SOURCE_DIR) / "tests/golden/access_log.txt";
    if (std::getenv("IDEM_WRITE_GOLDEN") != nullptr) std::ofstream(golden) << said;
    std::ostringstream expected;
    expected << std::ifstream(golden).rdbuf();
    CHECK(said == expected.str());
}

TEST_CASE("any bytes make one line of valid JSON") {
    rc::check([](const std::string& path, const std::string& model) {
        observe::clock_text clock;
        observe::access_record r;
        r.path = path;
        r.model = model;
        std::string line;
        observe::append_access_line(line, r, clock);
        RC_ASSERT(line.find('\n') == line.size() - 1);
        boost::system::error_code ec;
        const auto parsed = boost::json::parse(line, ec);
        RC_ASSERT(!ec);
        RC_ASSERT(parsed.is_object());
    });
}

TEST_CASE("long texts are cut at a character") {
    std::string out;
    observe::append_json_text(out, "aa\xc3\xa4\xc3\xa4", 3);
    CHECK(out == "\"aa\"");
    out.clear();
    observe::append_json_text(out, "aa\xc3\xa4\xc3\xa4", 4);
    CHECK(out == "\"aa\xc3\xa4\"");
}

TEST_CASE("what a caller chose cannot make a line long") {
    // Three bytes a character, so that neither cap falls between two of them.
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += "\xe6\x9d\xb1";
    observe::clock_text clock;
    observe::access_record r;
    r.method = r.path = r.model = text;
    std::string line;
    observe::append_access_line(line, r, clock);
    const auto parsed = boost::json::parse(line).as_object();
    CHECK(parsed.at("method").as_string() == text.substr(0, 30));
    CHECK(parsed.at("path").as_string() == text.substr(0, 255));
    CHECK(parsed.at("model").as_string() == text.substr(0, 126));
    // The worst that escaping makes of it.
    const std::string controls(100'000, '\x01');
    r.method = r.path = r.model = controls;
    line.clear();
    observe::append_access_line(line, r, clock);
    CHECK(line.size() < 6 * (32 + 256 + 128) + 500);
    const std::string broken(100'000, '\x80');
    line.clear();
    observe::append_json_text(line, broken, 128);
    CHECK(line.size() == 2 + 125 * 6);
}

TEST_CASE("times follow the calendar") {
    observe::clock_text clock;
    std::string out;
    observe::append_time(out, 1'709'164'799'000'000, clock);
    out += ' ';
    observe::append_time(out, 1'709'164'800'001'000, clock);
    CHECK(out == "2024-02-28T23:59:59.000Z 2024-02-29T00:00:00.001Z");
}
