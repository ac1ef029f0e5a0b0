#include "gateway/observe/log.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>

namespace observe = idem::gateway::observe;
using std::chrono::seconds;

TEST_CASE("lines of the operational log") {
    CHECK(observe::log_line(observe::level::warning, "store_unavailable", "redis: \"gone\"\nx", 0, 0, false) ==
          "1970-01-01T00:00:00.000Z warn store_unavailable: redis: \"gone\" x\n");
    CHECK(observe::log_line(observe::level::error, "e", "a\"b\n", 3, 0, true) ==
          "{\"ts\":\"1970-01-01T00:00:00.000Z\",\"level\":\"error\",\"event\":\"e\",\"msg\":\"a\\\"b\\u000a\","
          "\"repeats_held_back\":3}\n");
}

TEST_CASE("repeats are held back and counted, events do not disturb each other") {
    observe::repeat_limit limit(3, seconds(10));
    observe::repeat_limit::time_point now{};
    int written = 0;
    for (int i = 0; i < 100; ++i) written += limit.ask("storm", now).write ? 1 : 0;
    CHECK(written == 3);
    CHECK(limit.ask("other", now).write);
    now += seconds(10);
    const auto next = limit.ask("storm", now);
    CHECK(next.write);
    CHECK(next.held_back == 97);
    CHECK_FALSE(limit.ask("storm", now).write);  // still a storm: one a period
    now += seconds(10);
    CHECK(limit.ask("storm", now).held_back == 1);
    now += seconds(10);
    CHECK(limit.ask("storm", now).held_back == 0);
    CHECK(limit.ask("storm", now).write);  // a quiet period gave the burst back
}

TEST_CASE("what is usual of an event leaves its warnings their room") {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    observe::configure_log("info", false, ends[1]);
    for (int i = 0; i < 40; ++i) observe::log(observe::level::info, "state_of_many", "probing");
    observe::log(observe::level::warning, "state_of_many", "quarantined");
    observe::configure_log("info", false, 2);
    close(ends[1]);
    std::string written(65536, '\0');
    written.resize(static_cast<std::size_t>(read(ends[0], written.data(), written.size())));
    close(ends[0]);
    CHECK(written.find("warn state_of_many: quarantined") != std::string::npos);
    CHECK(std::ranges::count(written, '\n') == 11);
}
