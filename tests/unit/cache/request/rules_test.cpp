#include "cache/request/rules.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using idem::cache::rule_set;
using body_rules = idem::upstream::dialect::body_rules;

namespace {

// Walks a path whose segments are keys, or "[]" for an array element; says what holds for the last one.
rule_set::verdict walk(const rule_set& rules, const std::vector<std::string>& path) {
    std::vector<rule_set::node_id> alive;
    rules.start(alive);
    std::size_t from = 0;
    rule_set::verdict v;
    for (const std::string& segment : path) {
        const std::size_t to = alive.size();
        v = segment == "[]" ? rules.element(alive, from, to) : rules.member(alive, from, to, segment);
        from = to;
    }
    return v;
}

rule_set ignoring(std::vector<std::string_view> pointers) {
    return rule_set(body_rules{pointers, {}});
}

}  // namespace

TEST_CASE("a pointer matches its own path only") {
    const rule_set rules = ignoring({"/user", "/a/b"});
    CHECK(walk(rules, {"user"}).ignored);
    CHECK(walk(rules, {"a", "b"}).ignored);
    CHECK_FALSE(walk(rules, {"a"}).ignored);
    CHECK_FALSE(walk(rules, {"b"}).ignored);
    CHECK_FALSE(walk(rules, {"x", "user"}).ignored);
    CHECK_FALSE(walk(rules, {"user", "user"}).ignored);
    CHECK_FALSE(walk(rules, {"User"}).ignored);
    CHECK_FALSE(walk(rules, {"[]", "user"}).ignored);
}

TEST_CASE("a star stands for one key or for the elements of an array") {
    const rule_set rules = ignoring({"/messages/*/content/*/x"});
    CHECK(walk(rules, {"messages", "[]", "content", "[]", "x"}).ignored);
    CHECK(walk(rules, {"messages", "k", "content", "[]", "x"}).ignored);
    CHECK_FALSE(walk(rules, {"messages", "[]", "content", "x"}).ignored);
    CHECK_FALSE(walk(rules, {"messages", "[]", "[]", "content", "[]", "x"}).ignored);
    CHECK_FALSE(walk(rules, {"messages", "[]", "content", "[]", "y"}).ignored);
}

TEST_CASE("a leading double star stands for any number of levels") {
    const rule_set rules = ignoring({"**/cache_control", "**/p/q"});
    CHECK(walk(rules, {"cache_control"}).ignored);
    CHECK(walk(rules, {"a", "[]", "[]", "cache_control"}).ignored);
    CHECK(walk(rules, {"p", "q"}).ignored);
    CHECK(walk(rules, {"p", "p", "q"}).ignored);
    CHECK(walk(rules, {"p", "p", "p", "q"}).ignored);
    CHECK_FALSE(walk(rules, {"p", "x", "q"}).ignored);
}

TEST_CASE("several rules live side by side, a named and a starred one too") {
    const std::string_view ignored[] = {"/a/*/x", "/a/b/y"};
    const std::string_view kept[] = {"/a/*"};
    const rule_set rules(body_rules{ignored, kept});
    CHECK(walk(rules, {"a", "b", "x"}).ignored);
    CHECK(walk(rules, {"a", "b", "y"}).ignored);
    CHECK_FALSE(walk(rules, {"a", "c", "y"}).ignored);
    CHECK(walk(rules, {"a", "b"}).order_kept);
    CHECK(walk(rules, {"a", "[]"}).order_kept);
    CHECK_FALSE(walk(rules, {"a"}).order_kept);
}

TEST_CASE("segments are written as RFC 6901 says") {
    const rule_set rules = ignoring({"/a~1b", "/m~0n"});
    CHECK(walk(rules, {"a/b"}).ignored);
    CHECK(walk(rules, {"m~n"}).ignored);
    CHECK_FALSE(walk(rules, {"a", "b"}).ignored);
}

TEST_CASE("a rule set knows what it was built from, by content") {
    std::string text = "/user";
    const std::string_view pointers[] = {text};
    const rule_set rules(body_rules{pointers, {}});
    CHECK(rules.built_from(body_rules{pointers, {}}));
    CHECK_FALSE(rules.built_from(body_rules{{}, pointers}));
    text[1] = 'U';  // the same addresses, another rule
    CHECK_FALSE(rules.built_from(body_rules{pointers, {}}));
}

TEST_CASE("a pointer that begins otherwise is a fault of the program") {
    CHECK_THROWS_AS(ignoring({"user"}), std::invalid_argument);
}
