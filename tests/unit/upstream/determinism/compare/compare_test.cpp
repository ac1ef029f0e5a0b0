// The measures against plain definitions of them. Other implementations are asked in tests/clients.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>

#include "upstream/determinism/compare/bleu.hpp"
#include "upstream/determinism/compare/divergence.hpp"
#include "upstream/determinism/compare/edit_distance.hpp"
#include "upstream/determinism/compare/statistics.hpp"
#include "upstream/determinism/compare/task.hpp"

using namespace idem::upstream::determinism;

namespace {

std::size_t plain_distance(const token_list& a, const token_list& b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t corner = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t was = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, corner + (a[i - 1] == b[j - 1] ? 0 : 1)});
            corner = was;
        }
    }
    return row.back();
}

token_list some_tokens(std::size_t most, token alphabet) {
    const auto size = *rc::gen::inRange<std::size_t>(0, most);
    return *rc::gen::container<token_list>(size, rc::gen::inRange<token>(0, alphabet));
}

}  // namespace

TEST_CASE("the distance is the definition's, across block borders") {
    CHECK(rc::check("random lists", [] {
        const token alphabet = *rc::gen::element<token>(2, 4, 100);
        const token_list a = some_tokens(300, alphabet), b = some_tokens(300, alphabet);
        RC_ASSERT(edit_distance(a, b) == plain_distance(a, b));
        RC_ASSERT(edit_distance(b, a) == edit_distance(a, b));
        RC_ASSERT(distance_from(a).to(b) == plain_distance(a, b));
    }));
    for (const std::size_t n : {0UL, 1UL, 63UL, 64UL, 65UL, 127UL, 128UL, 129UL}) {
        const token_list a(n, 7), b(n, 8);
        distance_from from(a);
        CHECK(from.to(b) == n);
        CHECK(from.to(a) == 0);
        CHECK(from.to({}) == n);
    }
}

TEST_CASE("alike is 1 only for equal lists") {
    CHECK(edit_similarity({}, {}) == 1.0);
    const token_list a = {1, 2, 3, 4}, b = {1, 2, 3, 5};
    CHECK(edit_similarity(a, {}) == 0.0);
    CHECK(edit_similarity(a, b) == 0.75);
    CHECK(symmetric_bleu({}, {}) == 1.0);
    CHECK(symmetric_bleu(a, {}) == 0.0);
    CHECK(symmetric_bleu(a, a) == 1.0);
    CHECK(symmetric_bleu(a, token_list{9}) == 0.0);
    CHECK(symmetric_bleu(a, b) > 0.5);
    CHECK(symmetric_bleu(a, b) < 1.0);
}

TEST_CASE("pieces put together are the text, whatever its bytes") {
    CHECK(rc::check("any bytes", [](const std::string& text) {
        std::string joined;
        for (const auto piece : pieces_of(text)) {
            RC_ASSERT(!piece.empty());
            joined += piece;
        }
        RC_ASSERT(joined == text);
    }));
    using list = std::vector<std::string_view>;
    CHECK(pieces_of("It's  two\n\n\tnaïve_x9 words.") ==
          list{"It", "'", "s", "  ", "two", "\n\n", "\t", "naïve_x9", " ", "words", "."});
    CHECK(pieces_of("你好,世界") == list{"你", "好", ",", "世", "界"});
    CHECK(pieces_of("한글 🙂🙂") == list{"한", "글", " ", "🙂", "🙂"});
    CHECK(pieces_of("\xff\xfe"
                    "a") == list{"\xff", "\xfe", "a"});
    CHECK(pieces_of("\xed\xa0\x80") == list{"\xed", "\xa0", "\x80"});  // a surrogate is no character
    CHECK(pieces_of("").empty());
    vocabulary v;
    CHECK(v.tokens_of("a b a") == token_list{0, 1, 2, 1, 0});
    CHECK(v.tokens_of("b\na") == token_list{2, 3, 0});
    CHECK(v.tokens_of(std::vector<std::int64_t>{5, -1, 5}) == token_list{4, 5, 4});
    CHECK(v.size() == 6);
}

TEST_CASE("where two texts part") {
    CHECK_FALSE(part_of("same", "same"));
    const auto p = part_of("The answer is 42.", "The answer is forty-two.");
    REQUIRE(p);
    CHECK(p->byte == 14);
    CHECK(p->character == 14);
    CHECK(p->token == 6);
    CHECK(p->before == "The answer is ");
    CHECK(p->a == "42.");
    CHECK(p->b == "forty-two.");
    const auto within = part_of("caf\xc3\xa9", "caf\xc3\xaa");  // é, ê: their second bytes differ
    REQUIRE(within);
    CHECK(within->byte == 4);
    CHECK(within->character == 3);
    CHECK(within->a == "\xc3\xa9");
    const auto end = part_of("abc", "abcdef", 2);
    REQUIRE(end);
    CHECK(end->byte == 3);
    CHECK(end->before == "bc");
    CHECK(end->a.empty());
    CHECK(end->b == "de");
    CHECK(part_of("\xff\xff", "\xff")->byte == 1);
}

TEST_CASE("the rungs") {
    CHECK(common_rung("a", "a", "", "") == rung::bytes);
    CHECK(common_rung("a", "b", "n", "n") == rung::normalised);
    CHECK(common_rung("a", "b", "", "") == rung::none);
    CHECK(common_rung("a", "b", R"({"x":1,"y":[2.0,{"z":"\u0041"}]})", R"({ "y": [2, {"z":"A"}], "x": 1e0 })") ==
          rung::canonical);
    CHECK(common_rung("a", "b", R"({"x":1})", R"({"x":1,"y":null})") == rung::none);
    CHECK(common_rung("a", "b", R"([1,2])", R"([2,1])") == rung::none);
    CHECK(common_rung("a", "b", R"({"x":1,"x":2})", R"({"x":1})") == rung::none);
    CHECK(common_rung("a", "b", "yes", "no") == rung::none);
    // Arguments of a tool, and an answer that is JSON, are texts; token ids follow from how they are written.
    CHECK(common_rung("a", "b", R"({"arguments":"{\"a\":1,\"b\":[2]}","token_ids":[1,2]})",
                      R"({"arguments":" {\"b\": [2.0], \"a\":1}","token_ids":[3]})") == rung::canonical);
    CHECK(common_rung("a", "b", R"({"content":"{\"a\":1}"})", R"({"content":"{\"a\":2}"})") == rung::none);
    CHECK(common_rung("a", "b", R"({"content":"1"})", R"({"content":"1.0"})") == rung::none);
}

TEST_CASE("bounds, by the published table") {
    const auto percent = [](double p) { return std::round(p * 10000) / 100; };
    CHECK(percent(upper_bound(0, 100, 0.95)) == 2.95);
    CHECK(percent(upper_bound(0, 200, 0.95)) == 1.49);
    CHECK(percent(upper_bound(0, 200, 0.99)) == 2.28);
    CHECK(percent(upper_bound(0, 3000, 0.95)) == 0.10);
    CHECK(percent(clopper_pearson(0, 200, 0.95).high) == 1.83);
    CHECK(percent(clopper_pearson(5, 200, 0.95).low) == 0.82);
    CHECK(percent(clopper_pearson(5, 200, 0.95).high) == 5.74);
    CHECK(upper_bound(0, 0, 0.95) == 1);
    CHECK(upper_bound(7, 7, 0.95) == 1);
    CHECK(required_runs(0.01, 0.95) == 299);
    CHECK(required_runs(0.005, 0.95) == 598);
    CHECK(required_runs(0.001, 0.95) == 2995);
    CHECK(required_runs(1e-4, 0.95) == 29956);
    CHECK(corrected(0.95, 5) == doctest::Approx(0.99));
    CHECK(corrected(0.95, 1) == 0.95);
    CHECK(percent(power(0.01, 200)) == 86.60);
    CHECK(power(0, 200) == 0);
}

TEST_CASE("spread and score") {
    const std::uint64_t one[] = {200}, deviant[] = {1, 199}, none[] = {0, 5, 0};
    CHECK(spread_of(one).agreement == 1.0);
    CHECK(spread_of(one).entropy == 0.0);
    CHECK(spread_of(none).unique == 1);
    const spread s = spread_of(deviant);
    CHECK(s.unique == 2);
    CHECK(s.flip_rate == doctest::Approx(0.005));
    CHECK(s.agreement == doctest::Approx(0.99));
    CHECK(pair_score(one, [](auto, auto) { return 0.5; }) == 1.0);
    CHECK(pair_score(deviant, [](auto, auto) { return 0.0; }) == doctest::Approx(0.99));
    CHECK(pair_score(deviant, [](auto, auto) { return 0.75; }) == doctest::Approx(0.9975));
}

TEST_CASE("clusters: one bad lifetime is one piece of evidence") {
    const cluster even[] = {{1, 100}, {1, 100}, {1, 100}, {1, 100}},
                  lumped[] = {{4, 100}, {0, 100}, {0, 100}, {0, 100}};
    const interval a = cluster_bootstrap(even, 0.95, 2000, 1), b = cluster_bootstrap(lumped, 0.95, 2000, 1);
    CHECK(a.low == doctest::Approx(0.01));
    CHECK(a.high == doctest::Approx(0.01));
    CHECK(b.low == 0);
    CHECK(b.high > 0.015);
    const interval again = cluster_bootstrap(lumped, 0.95, 2000, 1);
    CHECK(again.high == b.high);
    CHECK(cluster_bootstrap({}, 0.95, 100, 1).high == 1);
}

TEST_CASE("log-probabilities are compared while the tokens agree") {
    const token_list a = {1, 2, 3}, b = {1, 2, 4};
    const double x[] = {-0.5, -0.25, -1}, y[] = {-0.5, -0.26, -9};
    const drift_of_logprobs d = compare_logprobs(a, x, b, y);
    CHECK(d.compared == 2);
    CHECK(d.differing == 1);
    CHECK(d.largest == doctest::Approx(0.01));
    CHECK(d.mean == doctest::Approx(0.005));
    CHECK(compare_logprobs(a, {}, b, y).compared == 0);
}

TEST_CASE("task values of answers in other words") {
    const auto same = [](std::string_view check, std::string_view a, std::string_view b) {
        CHECK(same_task(check, a, b) == same_task(check, b, a));
        return same_task(check, a, b);
    };
    CHECK(same("json", R"({"a":1,"b":2})", " {\"b\":2,\n\"a\":1.0}\n"));
    CHECK(same("json", "Here it is:\n```json\n[2, 3]\n```\nDone.", "[2,3]"));
    CHECK_FALSE(same("json", "[2,3]", "[3,2]"));
    CHECK_FALSE(same("json", "no JSON", "no JSON"));
    CHECK_FALSE(same("json", "```json\n[2,", "[2,"));
    CHECK(same("json:/person/0/na~1me", R"({"person":[{"na/me":"A"}],"x":1})", R"({"person":[{"na/me":"A"}]})"));
    CHECK_FALSE(same("json:/person/1", R"({"person":[1]})", R"({"person":[1]})"));
    CHECK_FALSE(same("json:/x/y", R"({"x":1})", R"({"x":1})"));
    CHECK(same("number", "It is 1,312 in all.", "The sum: 1312"));
    CHECK(same("number", "7 + 5 = 12.0", "12."));
    CHECK(same("number", "-3", "x = -3"));
    CHECK_FALSE(same("number", "3", "-3"));
    CHECK_FALSE(same("number", "none", "none"));
    CHECK_FALSE(same("number", "1.2.3", "1.2.3"));
    CHECK(same("first-word", "Heads.", "**heads** it is"));
    CHECK(same("first-word", "“红色”", "红!"));
    CHECK_FALSE(same("first-word", "...", "..."));
    CHECK_FALSE(same("first-word", "heads", "tails"));
    CHECK(same("after:Answer:", "So.\nAnswer: 12 \nBye", "Answer: 3? no.\nAnswer:12"));
    CHECK_FALSE(same("after:Answer:", "12", "12"));
    for (const std::string_view check : {"json", "json:/a", "number", "first-word", "after:x"})
        CHECK(known_check(check));
    for (const std::string_view check : {"", "json:a", "after:", "regex:.*", "Number"}) {
        CHECK_FALSE(known_check(check));
        CHECK_FALSE(same(check, "x", "x"));
    }
}
