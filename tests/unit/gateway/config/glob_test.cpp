#include "gateway/config/glob.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace config = idem::gateway::config;

TEST_CASE("a star stands for any run of characters") {
    CHECK(config::glob_match("*", ""));
    CHECK(config::glob_match("qwen*", "qwen3-8b"));
    CHECK(config::glob_match("*-8b", "qwen3-8b"));
    CHECK(config::glob_match("q*3*b", "qwen3-8b"));
    CHECK(config::glob_match("/v1/*", "/v1/chat/completions"));
    CHECK_FALSE(config::glob_match("qwen", "qwen3"));
    CHECK_FALSE(config::glob_match("q*x", "qwen"));
    CHECK_FALSE(config::glob_match("", "x"));
    // A pattern that backtracks badly in naive matchers.
    CHECK_FALSE(config::glob_match("a*a*a*a*a*a*a*a*b", std::string(2000, 'a')));
}

TEST_CASE("a pattern covers another") {
    CHECK(config::covers("", "qwen*"));
    CHECK(config::covers("*", ""));
    CHECK(config::covers("qwen*", "qwen-7b"));
    CHECK(config::covers("qwen*", "qwen*"));
    CHECK(config::covers("q*7*", "qwen*7b"));
    CHECK(config::covers("/v1/*", "/v1/chat/*"));
    CHECK_FALSE(config::covers("qwen*", ""));
    CHECK_FALSE(config::covers("qwen*", "qwe*"));
    CHECK_FALSE(config::covers("qwen", "qwen*"));
    CHECK_FALSE(config::covers("a*b", "a*"));
}

namespace {
bool matches(std::string_view p, std::string_view t) {  // the plain definition
    if (p.empty()) return t.empty();
    if (p[0] == '*') return matches(p.substr(1), t) || (!t.empty() && matches(p, t.substr(1)));
    return !t.empty() && p[0] == t[0] && matches(p.substr(1), t.substr(1));
}
}  // namespace

TEST_CASE("what is covered is matched") {
    const auto text = [](std::string_view alphabet) {
        return rc::gen::container<std::string>(rc::gen::elementOf(std::string(alphabet)));
    };
    rc::check([&] {
        const auto wide = *rc::gen::resize(6, text("ab*"));
        const auto narrow = *rc::gen::resize(6, text("ab*"));
        const auto sample = *rc::gen::resize(6, text("ab"));
        RC_PRE(!wide.empty() && !narrow.empty());
        RC_ASSERT(config::glob_match(wide, sample) == matches(wide, sample));
        if (config::covers(wide, narrow) && matches(narrow, sample)) RC_ASSERT(matches(wide, sample));
    });
}
