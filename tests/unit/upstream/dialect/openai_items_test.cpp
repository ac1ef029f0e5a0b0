// An embeddings call taken apart into its inputs, and answers put together again.
#include "upstream/dialect/openai_items.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>

#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/registry.hpp"

using namespace idem;
using namespace idem::upstream::dialect;

namespace {

const batching& inputs() {
    return openai::embedding_inputs();
}

using texts = std::vector<std::string_view>;

texts items_of(std::string_view input) {
    static std::string body;
    body = R"({"dimensions":8,"input":)" + std::string(input) + R"(,"model":"m"})";
    return inputs().items(body);
}

// An answer as OpenAI writes it, with these items and this usage.
std::string answer_of(std::initializer_list<std::string_view> items, std::string_view usage) {
    std::string out = R"({"object":"list","data":[)";
    for (const std::string_view item : items) out.append(out.ends_with('[') ? "" : ",").append(item);
    return out.append(R"(],"model":"m","usage":)").append(usage).append("}");
}

std::string item(int index, std::string_view vector) {
    return R"({"object":"embedding","index":)" + std::to_string(index) + R"(,"embedding":)" + std::string(vector) + "}";
}

std::string counts(int n) {
    return R"({"prompt_tokens":)" + std::to_string(n) + R"(,"total_tokens":)" + std::to_string(n) + "}";
}

std::optional<std::vector<std::string>> split(std::string_view answer, std::vector<std::uint32_t> weights) {
    return inputs().split_answer(answer, weights);
}

}  // namespace

TEST_CASE("inputs that come apart: strings or lists of token ids, and nothing else") {
    CHECK(items_of(R"("a")") == texts{R"("a")"});
    CHECK(items_of(R"(["a"])") == texts{R"("a")"});
    CHECK(items_of(R"(["b","a","c"])") == texts{R"("b")", R"("a")", R"("c")"});
    CHECK(items_of("[1,2]") == texts{"[1,2]"});
    CHECK(items_of("[[1,2]]") == texts{"[1,2]"});
    CHECK(items_of("[[1,2],[3]]") == texts{"[1,2]", "[3]"});
    CHECK(items_of(R"([ "a" , "b" ])") == texts{R"("a")", R"("b")"});
    for (std::string_view whole : {"[]", "[[]]", "[[1],[]]", R"(["a",[1]])", R"([[1],"a"])", R"([{"text":"a"}])", "{}",
                                   "1", "true", R"(["a",null])", R"([[1,"a"]])", R"([1,"a"])", R"([[[1]]])"})
        CHECK(items_of(whole).empty());
    CHECK(inputs().items(R"({"model":"m","messages":[]})").empty());
    std::string many = "[";
    for (std::size_t i = 0; i < batching::most_items; ++i) many += many.size() > 1 ? R"(,"a")" : R"("a")";
    CHECK(items_of(many + "]").size() == batching::most_items);
    CHECK(items_of(many + R"(,"a"])").empty());
}

TEST_CASE("what inputs share, and a body for some of them") {
    CHECK(inputs().without_items(R"({"dimensions":8,"input":["a"],"model":"m"})") == R"({"dimensions":8,"model":"m"})");
    CHECK(inputs().without_items(R"({"input":"a"})") == "{}");
    const std::string body = R"({ "input" : ["b", "a","c"] , "model":"m"})";
    const texts some = {R"("b")", R"("c")"};
    CHECK(inputs().asking_for(body, some) == R"({ "input" : ["b","c"] , "model":"m"})");
    CHECK(inputs().weight(R"("")") >= 1);
    CHECK(inputs().weight("[1,2,3]") == 3);
    CHECK(inputs().weight("[7]") == 1);
}

TEST_CASE("an answer comes apart by its indexes, whatever order it has") {
    const auto parts =
        split(answer_of({item(2, "[3]"), item(0, "[1]"), item(1, "\"AACAPw==\"")}, counts(10)), {1, 1, 1});
    REQUIRE(parts);
    CHECK(parts->at(0) == answer_of({item(0, "[1]")}, counts(3)));
    CHECK(parts->at(1) == answer_of({item(0, "\"AACAPw==\"")}, counts(3)));
    CHECK(parts->at(2) == answer_of({item(0, "[3]")}, counts(4)));
}

TEST_CASE("an answer to one thing is that thing's answer, byte for byte") {
    const std::string body =
        "{ \"usage\": {\"prompt_tokens\": 5},\n \"data\": [" + item(0, "[1, 2]") + "], \"id\":\"x\" }";
    const auto parts = split(body, {5});
    REQUIRE(parts);
    CHECK(parts->at(0) == body);
}

TEST_CASE("wrong counts and wrong or missing indexes come apart into nothing") {
    const auto two = [](std::string_view a, std::string_view b) { return answer_of({a, b}, counts(2)); };
    CHECK(split(two(item(0, "[1]"), item(1, "[2]")), {1, 1}));
    CHECK_FALSE(split(two(item(0, "[1]"), item(0, "[2]")), {1, 1}));
    CHECK_FALSE(split(two(item(0, "[1]"), item(2, "[2]")), {1, 1}));
    CHECK_FALSE(split(two(item(0, "[1]"), item(-1, "[2]")), {1, 1}));
    CHECK_FALSE(split(two(item(0, "[1]"), item(1, "[2]")), {1}));
    CHECK_FALSE(split(two(item(0, "[1]"), item(1, "[2]")), {1, 1, 1}));
    CHECK_FALSE(split(two(item(0, "[1]"), R"({"embedding":[2]})"), {1, 1}));
    CHECK_FALSE(split(two(item(0, "[1]"), R"({"index":"1","embedding":[2]})"), {1, 1}));
    CHECK_FALSE(split(two(item(0, "[1]"), R"({"index":1})"), {1, 1}));
    CHECK_FALSE(split(two(item(0, "[1]"), R"({"index":1,"index":0,"embedding":[2]})"), {1, 1}));
    CHECK_FALSE(split(two(item(0, "[1]"), "[2]"), {1, 1}));
    for (std::string_view body : {"", "[]", "{}", R"({"data":{}})", R"({"data":[],"data":[]})"})
        CHECK_FALSE(split(body, {1}));
    // What each would repeat is too much.
    CHECK_FALSE(split(R"({"data":[)" + item(0, "[1]") + R"(],"x":")" + std::string(5000, 'x') + "\"}", {1}));
}

TEST_CASE("counts of tokens are shared out by weight, and their sum is exact") {
    const std::string usage =
        R"({"prompt_tokens":10,"total_tokens":10,"prompt_tokens_details":{"audio_tokens":null,"cached":3},"cost":0.5})";
    const auto parts = split(answer_of({item(0, "[1]"), item(1, "[2]")}, usage), {3, 7});
    REQUIRE(parts);
    CHECK(
        find_member(parts->at(0), "usage") ==
        R"({"prompt_tokens":3,"total_tokens":3,"prompt_tokens_details":{"audio_tokens":null,"cached":0},"cost":0.5})");
    CHECK(
        find_member(parts->at(1), "usage") ==
        R"({"prompt_tokens":7,"total_tokens":7,"prompt_tokens_details":{"audio_tokens":null,"cached":3},"cost":0.5})");
    const texts both = {parts->at(0), parts->at(1)};
    CHECK(inputs().join_answers(both) == answer_of({item(0, "[1]"), item(1, "[2]")}, usage));
}

TEST_CASE("answers are put together in the order of the call: indexes are counted anew") {
    const std::string a = answer_of({item(0, "[1]")}, counts(1)), b = answer_of({item(0, "[2]")}, counts(20));
    const texts order = {b, a, b};
    CHECK(inputs().join_answers(order) == answer_of({item(0, "[2]"), item(1, "[1]"), item(2, "[2]")}, counts(41)));
    const std::string none = R"({"data":[)" + item(0, "[3]") + R"(],"model":"m"})";
    const texts without = {none, a};
    CHECK(inputs().join_answers(without) ==
          R"({"data":[)" + item(0, "[3]") + "," + item(1, "[1]") + R"(],"model":"m"})");
}

TEST_CASE("what is no answer to one thing is not put together") {
    const std::string good = answer_of({item(0, "[1]")}, counts(1));
    for (const std::string& bad :
         {std::string(), std::string("{}"), std::string(R"({"data":[]})"),
          answer_of({item(0, "[1]"), item(1, "[2]")}, counts(1)), answer_of({"{}"}, counts(1))}) {
        const texts order = {good, bad};
        CHECK_FALSE(inputs().join_answers(order));
    }
    CHECK_FALSE(inputs().join_answers({}));
}

TEST_CASE("property: split and join are inverses, in any order and with any counts") {
    CHECK(rc::check([] {
        const auto n = *rc::gen::inRange<std::size_t>(1, 40);
        const int tokens = *rc::gen::inRange(0, 1'000'000);
        std::vector<std::uint32_t> weights;
        std::vector<std::string> list;
        for (std::size_t i = 0; i < n; ++i) {
            weights.push_back(*rc::gen::inRange(1U, 100'000U));
            list.push_back(item(static_cast<int>(i), "[" + std::to_string(*rc::gen::inRange(0, 1000)) + "]"));
        }
        const auto body = [&](const std::vector<std::size_t>& order) {
            std::string out = R"({"data":[)";
            for (const std::size_t i : order) out.append(out.ends_with('[') ? "" : ",").append(list[i]);
            return out + R"(],"usage":)" + counts(tokens) + "}";
        };
        std::vector<std::size_t> sorted(n);
        std::iota(sorted.begin(), sorted.end(), std::size_t{0});
        std::vector<std::size_t> shuffled = sorted;
        for (std::size_t i = n; i > 1; --i) std::swap(shuffled[i - 1], shuffled[*rc::gen::inRange<std::size_t>(0, i)]);
        const auto parts = inputs().split_answer(body(shuffled), weights);
        RC_ASSERT(parts.has_value());
        const texts views(parts->begin(), parts->end());
        RC_ASSERT(inputs().join_answers(views) == body(sorted));
    }));
}
