// The simulated engine's Anthropic side.
#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <string>

#include "upstream/dialect/registry.hpp"
#include "upstream/simulate/script.hpp"

using namespace idem;
using namespace idem::upstream::simulate;
using upstream::dialect::anthropic_messages;
using upstream::dialect::form;
namespace json = boost::json;

namespace {

std::string text_of(const answer& a) {
    std::string out;
    for (const piece& p : a.pieces) out += p.bytes;
    return out;
}

answer ask(std::string_view body, const chance& luck = {}, const simulate_options& o = {}) {
    return plan(o, "POST", "/v1/messages", body, luck);
}

json::value object(std::string_view body, const chance& luck = {}) {
    return json::parse(text_of(ask(body, luck)));
}

std::string request(std::string_view more = "", std::string_view content = R"("hi")") {
    return R"({"model":"m","max_tokens":100,"temperature":0,"messages":[{"role":"user","content":)" +
           std::string(content) + "}]" + std::string(more) + "}";
}

const std::string tools =
    R"(,"tools":[{"type":"bash_20250124","name":"bash"},{"name":"a","input_schema":{}},)"
    R"({"name":"paint","input_schema":{"type":"object","properties":{"colour":{"type":"string"},"n":{"type":"integer"}}}}])";

// Both forms say the same, and both are whole.
void check_forms(const std::string& more) {
    CAPTURE(more);
    const chance luck{.seed = 1, .id = 2};
    const std::string whole = text_of(ask(request(more), luck));
    const answer streamed = ask(request(more + R"(,"stream":true)"), luck);
    CHECK(streamed.stream);
    CHECK(streamed.content_type.starts_with("text/event-stream"));
    const std::string stream = text_of(streamed);
    for (const auto& [f, body] : {std::pair(form::json, whole), std::pair(form::sse, stream)}) {
        const auto w = anthropic_messages().watch(f, {});
        w->feed(body);
        const auto v = w->finish(true);
        CHECK(v.refuse == reason::none);
        CHECK(v.tokens->input > 0);
        CHECK(v.tokens->output > 0);
    }
    const auto assembled = anthropic_messages().assemble(stream);
    REQUIRE(assembled);
    CHECK(json::parse(*assembled) == json::parse(whole));
    const auto split = anthropic_messages().split(whole, false);
    REQUIRE(split);
    CHECK(anthropic_messages().assemble(*split) == whole);
}

}  // namespace

TEST_CASE("stream and object carry one message") {
    check_forms("");
    check_forms(tools);
    check_forms(R"(,"thinking":{"type":"enabled","budget_tokens":1024})");
    check_forms(R"(,"thinking":{"type":"adaptive"})" + tools);
    check_forms(R"(,"stop_sequences":["e"])");
}

TEST_CASE("at temperature 0 the text follows from the request, above it on chance") {
    const auto words = [](std::string_view body, std::uint64_t seed) {
        return std::string(object(body, {.seed = seed}).at("content").at(0).at("text").as_string());
    };
    CHECK(words(request(), 1) == words(request(R"(,"metadata":{"user_id":"u"})"), 2));
    CHECK(words(request(), 1) != words(request("", R"("ho")"), 1));
    CHECK(words(request(), 1) != words(request(R"(,"system":"x")"), 1));
    const std::string warm = R"({"model":"m","max_tokens":100,"messages":[]})";
    CHECK(words(warm, 1) != words(warm, 2));
}

TEST_CASE("limits, stop sequences, tools, schemas") {
    const json::value cut = object(R"({"model":"m","max_tokens":3,"messages":[]})");
    CHECK(cut.at("stop_reason") == "max_tokens");
    CHECK(cut.at("usage").at("output_tokens") == 3);
    const json::value stopped = object(request(R"(,"stop_sequences":["zzz","e"])"));
    CHECK(stopped.at("stop_reason") == "stop_sequence");
    CHECK(stopped.at("stop_sequence") == "e");
    const json::value called = object(request(tools + R"(,"tool_choice":{"type":"tool","name":"paint"})"));
    CHECK(called.at("stop_reason") == "tool_use");
    CHECK(called.at("content").at(0).at("name") == "paint");
    CHECK(called.at("content").at(0).at("input").at("n").is_int64());
    CHECK(object(request(tools)).at("content").at(0).at("name") == "a");
    CHECK(object(request(tools + R"(,"tool_choice":{"type":"none"})")).at("stop_reason") == "end_turn");
    CHECK(object(request(tools, R"([{"type":"tool_result","tool_use_id":"t","content":"r"}])")).at("stop_reason") ==
          "end_turn");
    const json::value made = object(request(
        R"(,"output_config":{"format":{"type":"json_schema","schema":{"properties":{"n":{"type":"integer"}}}}})"));
    CHECK(json::parse(made.at("content").at(0).at("text").as_string()).at("n").is_int64());
}

TEST_CASE("counting tokens agrees with the usage of the call") {
    const json::value count = json::parse(
        text_of(plan({}, "POST", "/v1/messages/count_tokens", request(R"(,"system":"be kind")" + tools), {})));
    CHECK(count.as_object().size() == 1);
    CHECK(count.at("input_tokens") == object(request(R"(,"system":"be kind")" + tools)).at("usage").at("input_tokens"));
    CHECK(is_model_call("POST", "/v1/messages/count_tokens"));
    CHECK(is_model_call("POST", "/v1/messages"));
    CHECK_FALSE(is_model_call("GET", "/v1/messages"));
}

TEST_CASE("errors have Anthropic's shape") {
    const auto error = [](std::string_view body, unsigned status) {
        const answer a = ask(body);
        CHECK(a.status == status);
        const json::value v = json::parse(text_of(a));
        CHECK(v.at("type") == "error");
        return std::string(v.at("error").at("type").as_string());
    };
    CHECK(error("x", 400) == "invalid_request_error");
    CHECK(error("{}", 400) == "invalid_request_error");
    CHECK(error(R"({"model":"m","messages":[]})", 400) == "invalid_request_error");
    CHECK(error(R"({"model":"m","messages":"x","max_tokens":1})", 400) == "invalid_request_error");
    CHECK(error(R"({"model":"error-401","messages":[],"max_tokens":1})", 401) == "authentication_error");
    CHECK(error(R"({"model":"error-429","messages":[],"max_tokens":1})", 429) == "rate_limit_error");
    CHECK(error(R"({"model":"error-529","messages":[],"max_tokens":1})", 529) == "api_error");
}
