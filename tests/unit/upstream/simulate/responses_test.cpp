// The simulated engine's OpenAI responses and plain objects, and Mistral's FIM completions.
#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <string>

#include "tests/unit/upstream/simulate/forms.hpp"
#include "upstream/dialect/registry.hpp"

using namespace idem;
using namespace idem::upstream;
using namespace idem::upstream::simulate;
using namespace idem::upstream::simulate::testing;
namespace json = boost::json;

namespace {

answer ask(std::string_view path, std::string_view body, const chance& luck = {}) {
    return plan({}, "POST", path, body, luck);
}

std::string request(std::string_view more = "", std::string_view input = R"("hi")") {
    return R"({"model":"m","temperature":0,"input":)" + std::string(input) + std::string(more) + "}";
}

json::value respond(std::string_view body, const chance& luck = {}) {
    return json::parse(text_of(ask("/v1/responses", body, luck)));
}

void check(const std::string& more) {
    CAPTURE(more);
    const chance luck{.seed = 1, .id = 2};
    check_forms(dialect::openai_responses(), {}, ask("/v1/responses", request(more), luck),
                ask("/v1/responses", request(more + R"(,"stream":true)"), luck));
}

const std::string tools =
    R"(,"tools":[{"type":"function","name":"paint","parameters":{"type":"object","properties":{"n":{"type":"integer"}}}},)"
    R"({"type":"custom","name":"shout"}])";

std::string first_text(const json::value& response) {
    return std::string(response.at("output").at(0).at("content").at(0).at("text").as_string());
}

}  // namespace

TEST_CASE("stream and object carry one response") {
    check("");
    check(R"(,"max_output_tokens":3)");
    check(R"(,"reasoning":{"effort":"low"})");
    check(tools);
    check(tools + R"(,"tool_choice":{"type":"custom","name":"shout"},"reasoning":{"effort":"low"})");
    check(R"(,"text":{"format":{"type":"json_schema","schema":{"properties":{"a":{"type":"string"}}}}})");
}

TEST_CASE("a response follows from what is asked, at temperature 0 from nothing else") {
    const std::string said = first_text(respond(request(), {.seed = 1}));
    CHECK(said == first_text(respond(request(R"(,"metadata":{"a":"b"},"stream":false)"), {.seed = 2})));
    CHECK(said != first_text(respond(request("", R"("ho")"), {.seed = 1})));
    CHECK(said != first_text(respond(request(R"(,"instructions":"be brief")"), {.seed = 1})));
    const json::value cut = respond(request(R"(,"max_output_tokens":3)"));
    CHECK(cut.at("status").as_string() == "incomplete");
    CHECK(said.starts_with(first_text(cut)));
}

TEST_CASE("tools are called until they have answered") {
    const json::value call = respond(request(tools));
    CHECK(call.at("output").at(0).at("type").as_string() == "function_call");
    CHECK(json::parse(call.at("output").at(0).at("arguments").as_string()).at("n").is_int64());
    CHECK(respond(request(tools + R"(,"tool_choice":"none")")).at("output").at(0).at("type").as_string() == "message");
    const auto answered = respond(request(tools, R"([{"type":"function_call_output","call_id":"c","output":"r"}])"));
    CHECK(answered.at("output").at(0).at("type").as_string() == "message");
}

TEST_CASE("bad requests have OpenAI's errors") {
    CHECK(ask("/v1/responses", R"({"model":"m"})").status == 400);
    CHECK(ask("/v1/responses", R"({"model":"error-429","input":"x"})").status == 429);
    CHECK(respond(R"({"input":"x"})").at("error").at("type").as_string() == "invalid_request_error");
}

TEST_CASE("moderations, images and speech") {
    const auto check_object = [](const dialect::dialect& d, std::string_view path, std::string_view body) {
        const std::string one = text_of(ask(path, body, {.seed = 1, .id = 1}));
        const auto w = d.watch(dialect::form::json, d.read(body));
        w->feed(one);
        CHECK(w->finish(true).refuse == reason::none);
        const auto words = d.normalised(dialect::form::json, one);
        REQUIRE(words);
        CHECK(words == d.normalised(dialect::form::json, text_of(ask(path, body, {.seed = 2, .id = 2}))));
        return *words;
    };
    const auto moderation = [&](std::string_view input) {
        return check_object(dialect::openai_moderations(), "/v1/moderations",
                            R"({"model":"m","input":)" + std::string(input) + "}");
    };
    CHECK(moderation(R"("a")") != moderation(R"("b")"));
    moderation(R"(["a","b"])");
    moderation(R"([{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:,"}}])");
    const auto image = [&](std::string_view prompt) {
        return check_object(dialect::openai_images(), "/v1/images/generations",
                            R"({"model":"m","temperature":0,"n":2,"prompt":")" + std::string(prompt) + "\"}");
    };
    CHECK(image("a cat") != image("a dog"));
    const answer speech = ask("/v1/audio/speech", R"({"model":"m","input":"hi","voice":"v"})");
    CHECK(speech.content_type == "audio/wav");
    CHECK(text_of(speech).starts_with("RIFF"));
    CHECK(text_of(speech).size() == 844);
}

TEST_CASE("FIM completions are chat choices") {
    const std::string body = R"({"model":"m","temperature":0,"prompt":"def f(","suffix":"return a")";
    const chance luck{.seed = 1, .id = 2};
    check_forms(dialect::mistral_fim(), {}, ask("/v1/fim/completions", body + "}", luck),
                ask("/v1/fim/completions", body + R"(,"stream":true})", luck));
}
