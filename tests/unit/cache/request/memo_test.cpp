#include "cache/request/memo.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "cache/request/canonical.hpp"
#include "cache/request/key.hpp"
#include "tests/support/xxh3_pair.hpp"

using namespace idem;
using cache::memo;
using head_parts = std::array<std::string_view, 3>;

namespace {

constexpr head_parts head{"POST", "/v1/chat/completions", "Bearer a"};

}  // namespace

TEST_CASE("what was inserted is found by the very same bytes") {
    memo<int> m(1 << 20);
    CHECK(m.find(head, "{}") == nullptr);
    m.insert(head, "{}", 7);
    REQUIRE(m.find(head, "{}"));
    CHECK(*m.find(head, "{}") == 7);
    m.insert(head, "{}", 8);
    CHECK(*m.find(head, "{}") == 8);
    m.clear();
    CHECK(m.find(head, "{}") == nullptr);
}

TEST_CASE("any other byte, and bytes moved from one part to another, are another request") {
    memo<int> m(1 << 20);
    m.insert(head, "{} ", 1);
    CHECK(m.find(head, "{}") == nullptr);
    CHECK(m.find(head_parts{"POST", "/v1/chat/completions", "Bearer b"}, "{} ") == nullptr);
    CHECK(m.find(head_parts{"POST", "/v1/chat/completion", "sBearer a"}, "{} ") == nullptr);
    CHECK(m.find(head_parts{"POST", "/v1/chat/completions", "Bearer a{"}, "} ") == nullptr);
    CHECK(m.find(head_parts{"GET", "/v1/chat/completions", "Bearer a"}, "{} ") == nullptr);
}

TEST_CASE("an absent part is not an empty one") {
    memo<int> m(1 << 20);
    const head_parts empty{"POST", "/x", std::string_view("")};
    const head_parts absent{"POST", "/x", std::string_view()};
    m.insert(empty, "{}", 1);
    CHECK(m.find(absent, "{}") == nullptr);
    m.insert(absent, "{}", 2);
    CHECK(*m.find(empty, "{}") == 1);
    CHECK(*m.find(absent, "{}") == 2);
}

TEST_CASE("bodies with one XXH3 are different requests, digests and keys") {
    const auto pair = test::xxh3_pair();
    REQUIRE(pair);
    const auto& [a, b] = *pair;
    memo<int> m(1 << 20);  // seed 0, the worst case
    m.insert(head, a, 1);
    CHECK(m.find(head, b) == nullptr);
    m.insert(head, b, 2);
    CHECK(*m.find(head, a) == 1);
    CHECK(*m.find(head, b) == 2);

    cache::canonicalizer c;
    const auto digest_of = [&](const std::string& body) {
        cache::request_parts parts;
        parts.body = c.canonicalize(body, upstream::dialect::body_rules{}).text;
        REQUIRE_FALSE(parts.body.empty());
        return cache::request_digest(parts);
    };
    cache::key_parts ka, kb;
    ka.request = digest_of(a);
    kb.request = digest_of(b);
    CHECK(ka.request != kb.request);
    CHECK(cache::make_key(ka) != cache::make_key(kb));
}

TEST_CASE("long bodies are not remembered") {
    memo<int> m(16 << 20);
    const std::string longest(cache::memo_body_cap, 'x');
    m.insert(head, longest, 1);
    CHECK(m.find(head, longest) != nullptr);
    m.insert(head, longest + "x", 2);
    CHECK(m.find(head, longest + "x") == nullptr);
    const std::string wide(200'000, 'h');
    m.insert(head_parts{"POST", "/", wide}, "{}", 3);
    CHECK(m.find(head_parts{"POST", "/", wide}, "{}") == nullptr);
}

TEST_CASE("memory stays within its bound, and what is used stays longest") {
    constexpr std::size_t bound = 256 << 10;
    memo<std::uint64_t> m(bound);
    const std::size_t empty = m.bytes();
    const std::string hot = "{\"hot\":1}";
    m.insert(head, hot, 42);
    int hot_lost = 0;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        m.insert(head, std::string(i % 3000, 'a') + std::to_string(i), i);
        CHECK(m.bytes() <= bound + empty);
        if (m.find(head, hot)) continue;
        ++hot_lost;
        m.insert(head, hot, 42);
    }
    CHECK(hot_lost < 200);
}

TEST_CASE("a memo without memory remembers nothing") {
    memo<int> m(0);
    m.insert(head, "{}", 1);
    CHECK(m.find(head, "{}") == nullptr);
}

TEST_CASE("it never answers with another request's value") {
    CHECK(rc::check([](const std::vector<std::pair<std::string, std::string>>& requests) {
        memo<std::size_t> m(2048);
        std::map<std::pair<std::string, std::string>, std::size_t> model;
        for (std::size_t i = 0; i < requests.size(); ++i) {
            const auto& [field, body] = requests[i];
            m.insert(std::array<std::string_view, 1>{field}, body, i);
            model[requests[i]] = i;
            for (const auto& [request, value] : model) {
                const std::size_t* found = m.find(std::array<std::string_view, 1>{request.first}, request.second);
                RC_ASSERT((!found || *found == value));  // parentheses: the macro takes operators apart
            }
        }
    }));
}
