// Texts that follow from more than the request.
#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <set>
#include <string>

#include "tests/unit/upstream/simulate/forms.hpp"
#include "upstream/simulate/memory.hpp"

using namespace idem::upstream::simulate;
using namespace idem::upstream::simulate::testing;
namespace json = boost::json;

namespace {

json::value ask(const simulate_options& o, const chance& luck, std::string_view more = "",
                std::string_view temperature = "0") {
    const std::string body = R"({"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":)" +
                             std::string(temperature) + std::string(more) + "}";
    return json::parse(text_of(plan(o, "POST", "/v1/chat/completions", body, luck)));
}

std::string text(const json::value& answer) {
    return std::string(answer.at("choices").at(0).at("message").at("content").as_string());
}

std::string say(const simulate_options& o, const chance& luck, std::string_view more = "",
                std::string_view temperature = "0") {
    return text(ask(o, luck, more, temperature));
}

const std::string plain = say({}, {});

}  // namespace

TEST_CASE("batch-sensitive: the text follows from the calls beside it, alone it is the plain one") {
    simulate_options o;
    o.batch_sensitive = true;
    CHECK(say(o, {}) == plain);
    std::set<std::string> seen;
    for (std::uint64_t others = 0; others < 8; ++others) {
        CHECK(say(o, {.running = others}) == say(o, {.seed = 5, .running = others}));
        seen.insert(say(o, {.running = others}));
    }
    CHECK(seen.size() == 8);
    CHECK(say({}, {.running = 3}) == plain);
}

TEST_CASE("a deviation shows within the first tokens") {
    simulate_options o;
    o.batch_sensitive = true;
    o.tokens = 4;
    for (std::uint64_t others = 1; others < 20; ++others) CHECK(say(o, {.running = others}) != say(o, {}));
}

TEST_CASE("prefix cache: the first answer to a prompt is another one than the second and the third") {
    simulate_options o;
    o.prefix_cache = true;
    engine_memory memory;
    const chance luck{.memory = &memory};
    CHECK(say(o, luck) == plain);
    const std::string warm = say(o, luck);
    CHECK(warm != plain);
    CHECK(say(o, luck) == warm);
    CHECK(say(o, luck, R"(,"cache_prompt":false)") == plain);
    CHECK(say(o, luck, R"(,"cache_salt":"a")") == plain);
    CHECK(say(o, luck, R"(,"cache_salt":"b")") == plain);
    CHECK(say(o, luck, R"(,"cache_salt":"b")") == warm);
    memory.forget();
    CHECK(say(o, luck) == plain);
}

TEST_CASE("global generator: seeds count for nothing above temperature 0") {
    simulate_options o;
    o.global_rng = true;
    engine_memory memory;
    const chance luck{.memory = &memory};
    const std::string first = say(o, luck, R"(,"seed":1)", "1");
    CHECK(say(o, luck, R"(,"seed":1)", "1") != first);
    CHECK(say(o, luck) == plain);
    engine_memory restarted;
    CHECK(say(o, {.memory = &restarted}, R"(,"seed":2)", "1") == first);
}

TEST_CASE("dated template: text and prompt tokens follow from the second, for chat alone") {
    simulate_options o;
    o.dated_template = true;
    const auto tokens = [&](std::int64_t now) {
        return ask(o, {.now = now}).at("usage").at("prompt_tokens").as_int64();
    };
    CHECK(say(o, {.now = 100}) == say(o, {.now = 100}));
    CHECK(say(o, {.now = 100}) != say(o, {.now = 101}));
    CHECK(tokens(101) == tokens(100) + 1);
    const auto complete = [&](std::int64_t now) {
        return text_of(plan(o, "POST", "/v1/completions", R"({"model":"m","prompt":"hi","temperature":0})",
                            {.id = 1, .now = now}));
    };
    CHECK(json::parse(complete(100)).at("choices") == json::parse(complete(101)).at("choices"));
}

TEST_CASE("token hazard: the longer an answer, the likelier it strays, and before the token it is the plain one") {
    simulate_options o;
    o.tokens = 100;
    const std::string steady = say(o, {});
    o.token_hazard = 0.01;
    unsigned strayed = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const std::string got = say(o, {.seed = seed});
        if (got != steady) ++strayed;
    }
    // 1 - 0.99^100 is 0.634; five standard deviations are 0.12.
    CHECK(strayed > 200);
    CHECK(strayed < 310);
    o.token_hazard = 1;
    CHECK(say(o, {}) != steady);
    o.token_hazard = 0;
    CHECK(say(o, {.seed = 7}) == steady);
}

TEST_CASE("tool calls, schemas and vectors stray too") {
    simulate_options o;
    o.batch_sensitive = true;
    const std::string schema =
        R"(,"response_format":{"type":"json_schema","json_schema":{"schema":{"properties":{"n":{"type":"integer"}}}}})";
    CHECK(say(o, {.running = 1}, schema) != say(o, {}, schema));
    const auto vector = [&](std::uint64_t others) {
        return json::parse(
                   text_of(plan(o, "POST", "/v1/embeddings", R"({"model":"m","input":"a"})", {.running = others})))
            .at("data");
    };
    CHECK(vector(0) == vector(0));
    CHECK(vector(1) != vector(0));
}
