#include "gateway/config/pointers.hpp"

#include <doctest/doctest.h>

using idem::gateway::config::problems_of;

namespace {

std::string problem(const std::string& pointer) {
    const std::vector<std::string> one{pointer};
    const auto found = problems_of(one);
    REQUIRE(found.size() <= 1);
    return found.empty() ? "" : (found[0].fatal ? "error: " : "warning: ") + found[0].message;
}

}  // namespace

TEST_CASE("pointers that may stand in strip_pointers") {
    for (const char* good : {"/user", "/metadata/trace_id", "/messages/*/name", "**/cache_control", "/messages/*/model",
                             "/a~1b", "/", "/models", "/stream_options", "**/messages/stream"}) {
        CAPTURE(good);
        CHECK(problem(good).empty());
    }
}

TEST_CASE("what is wrong with the others is said") {
    CHECK(problem("user") ==
          "error: \"user\" does not begin with / or **/; expected a JSON pointer such as /metadata/trace_id");
    CHECK(problem("/a~2").starts_with("error: \"/a~2\" has a ~ that is not written ~0"));
    CHECK(problem("/a/**/b").starts_with("error: \"/a/**/b\" has ** elsewhere than at its beginning"));
    for (const char* needed : {"/model", "/stream", "/*", "**/model", "**/stream", "**/*"})
        CHECK(problem(needed).find("would take out `model` or `stream`") != std::string::npos);
    CHECK(problem("/messages/0/name").starts_with("warning: \"/messages/0/name\" names a member by a number"));
    CHECK(problem("/logit_bias/50256").starts_with("warning: "));
    CHECK(problem("/" + std::string(1024, 'x')) == "error: a pointer is longer than 1024 bytes");
    CHECK(problems_of(std::vector<std::string>(257, "/a")).size() == 1);
}
