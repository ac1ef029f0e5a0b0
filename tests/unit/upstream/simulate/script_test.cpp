#include "upstream/simulate/script.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <string>

#include "upstream/dialect/dialect.hpp"
#include "upstream/dialect/json_text.hpp"

using namespace idem;
using namespace idem::upstream::simulate;
namespace json = boost::json;

namespace {

simulate_options options() {
    return {};
}

std::string text_of(const answer& a) {
    std::string out;
    for (const piece& p : a.pieces) out += p.bytes;
    return out;
}

answer ask(std::string_view path, std::string_view body, const chance& luck = {},
           const simulate_options& o = options()) {
    return plan(o, "POST", path, body, luck);
}

answer chat(std::string_view body, const chance& luck = {}, const simulate_options& o = options()) {
    return ask("/v1/chat/completions", body, luck, o);
}

std::string content(const answer& a, std::size_t choice = 0) {
    return std::string(json::parse(text_of(a)).at("choices").at(choice).at("message").at("content").as_string());
}

reason verdict_of(std::string_view path, std::string_view request, const answer& a) {
    const auto* d = upstream::dialect::find("POST", path);
    const auto c = d->read(request);
    const auto w = d->watch(c.wanted, c);
    w->feed(text_of(a));
    return w->finish(true).refuse;
}

const std::string greedy = R"({"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0})";
const std::string warm = R"({"model":"m","messages":[{"role":"user","content":"hi"}]})";

}  // namespace

TEST_CASE("at temperature 0 the text follows from the request, however it is written") {
    const std::string one = content(chat(greedy, {.seed = 1, .id = 1}));
    CHECK(one == content(chat(greedy, {.seed = 2, .id = 2})));
    CHECK(one == content(chat(R"({ "temperature":0.0,"messages" : [{"content":"h\u0069","role":"user"}], "model":"m",
        "stream":false, "user":"u", "seed":5})")));
    CHECK(one != content(chat(R"({"model":"m","messages":[{"role":"user","content":"ho"}],"temperature":0})")));
    CHECK(one != content(chat(R"({"model":"o","messages":[{"role":"user","content":"hi"}],"temperature":0})")));
    CHECK(one !=
          content(chat(R"({"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0,"top_p":0.5})")));
}

TEST_CASE("above it, on the seed; without one, on chance") {
    CHECK(content(chat(warm, {.seed = 1})) != content(chat(warm, {.seed = 2})));
    const std::string seeded = R"({"model":"m","messages":[{"role":"user","content":"hi"}],"seed":4})";
    CHECK(content(chat(seeded, {.seed = 1})) == content(chat(seeded, {.seed = 2})));
    CHECK(content(chat(seeded)) !=
          content(chat(R"({"model":"m","messages":[{"role":"user","content":"hi"}],"seed":5})")));
}

TEST_CASE("stream and object carry one text, and both are complete answers") {
    const std::string request =
        R"({"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0,"n":2,"stream":true,)"
        R"("stream_options":{"include_usage":true},"logprobs":true,"top_logprobs":2})";
    const answer a = chat(request);
    CHECK(a.stream);
    CHECK(a.content_type.starts_with("text/event-stream"));
    CHECK(verdict_of("/v1/chat/completions", request, a) == reason::none);
    CHECK(text_of(a).find("\"choices\":[],\"usage\":{") != std::string::npos);
    CHECK(verdict_of("/v1/chat/completions", greedy, chat(greedy)) == reason::none);
    const answer plain = chat(R"({"model":"m","messages":[],"stream":true})");
    CHECK(plain.status == 400);
}

TEST_CASE("limits end the text by length, stop strings cut it") {
    const std::string full = content(chat(greedy));
    const std::string body = greedy.substr(0, greedy.size() - 1);
    const answer cut = chat(body + R"(,"max_tokens":3})");
    CHECK(full.starts_with(content(cut)));
    CHECK(json::parse(text_of(cut)).at("choices").at(0).at("finish_reason") == "length");
    CHECK(json::parse(text_of(cut)).at("usage").at("completion_tokens") == 3);
    const std::string stop = full.substr(10, 4);
    json::value request = json::parse(greedy);
    request.as_object()["stop"] = stop;
    const answer stopped = chat(json::serialize(request));
    CHECK(content(stopped) == full.substr(0, full.find(stop)));
    CHECK(json::parse(text_of(stopped)).at("choices").at(0).at("finish_reason") == "stop");
}

TEST_CASE("tools are called, until one has answered or the caller forbids it") {
    const std::string tools =
        R"(,"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":)"
        R"({"city":{"type":"string"},"days":{"type":"integer"}}}}}])";
    const auto request = [&](std::string_view messages, std::string_view more = "") {
        return R"({"model":"m","messages":)" + std::string(messages) + tools + std::string(more) + "}";
    };
    const json::value answer_value = json::parse(text_of(chat(request(R"([{"role":"user","content":"x"}])"))));
    const json::value& choice = answer_value.at("choices").at(0);
    CHECK(choice.at("finish_reason") == "tool_calls");
    CHECK(choice.at("message").at("content").is_null());
    const json::value& call = choice.at("message").at("tool_calls").at(0);
    CHECK(call.at("function").at("name") == "weather");
    const json::value arguments = json::parse(call.at("function").at("arguments").as_string());
    CHECK(arguments.at("city").is_string());
    CHECK(arguments.at("days").is_number());
    CHECK(json::parse(text_of(chat(request(R"([{"role":"user","content":"x"}])", R"(,"tool_choice":"none")"))))
              .at("choices")
              .at(0)
              .at("finish_reason") == "stop");
    CHECK(json::parse(text_of(chat(request(R"([{"role":"tool","tool_call_id":"c","content":"x"}])"))))
              .at("choices")
              .at(0)
              .at("finish_reason") == "stop");
    const std::string streaming = request(R"([{"role":"user","content":"x"}])", R"(,"stream":true)");
    CHECK(verdict_of("/v1/chat/completions", streaming, chat(streaming)) == reason::none);
}

TEST_CASE("a response format is obeyed") {
    const answer a =
        chat(R"({"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema",)"
             R"("json_schema":{"name":"n","schema":{"type":"object","properties":{"ok":{"type":"boolean"}}}}}})");
    CHECK(json::parse(content(a)).at("ok").is_bool());
}

TEST_CASE("completions: several prompts, logprobs, echo") {
    const std::string request =
        R"({"model":"m","prompt":["a","b"],"n":2,"temperature":0,"logprobs":1,"max_tokens":4,"echo":true})";
    const answer a = ask("/v1/completions", request);
    CHECK(verdict_of("/v1/completions", request, a) == reason::none);
    const json::value v = json::parse(text_of(a));
    REQUIRE(v.at("choices").as_array().size() == 4);
    CHECK(v.at("choices").at(0).at("text") == v.at("choices").at(1).at("text"));
    CHECK(v.at("choices").at(0).at("text") != v.at("choices").at(2).at("text"));
    CHECK(v.at("choices").at(3).at("text").as_string().starts_with("b"));
    CHECK(v.at("choices").at(0).at("logprobs").at("tokens").as_array().size() == 5);
    const std::string streaming = R"({"model":"m","prompt":"a","stream":true,"logprobs":0})";
    CHECK(verdict_of("/v1/completions", streaming, ask("/v1/completions", streaming)) == reason::none);
}

TEST_CASE("embeddings: a vector follows from its input, in both encodings") {
    const std::string batch = R"({"model":"m","input":["a","b","a"]})";
    const answer a = ask("/v1/embeddings", batch);
    CHECK(verdict_of("/v1/embeddings", batch, a) == reason::none);
    const json::value v = json::parse(text_of(a));
    CHECK(v.at("data").at(0).at("embedding") == v.at("data").at(2).at("embedding"));
    CHECK(v.at("data").at(0).at("embedding") != v.at("data").at(1).at("embedding"));
    CHECK(
        json::parse(text_of(ask("/v1/embeddings", R"({"model":"m","input":"a"})"))).at("data").at(0).at("embedding") ==
        v.at("data").at(0).at("embedding"));
    const json::value coded = json::parse(
        text_of(ask("/v1/embeddings", R"({"model":"m","input":"a","encoding_format":"base64","dimensions":3})")));
    CHECK(coded.at("data").at(0).at("embedding").as_string().size() == 16);
}

TEST_CASE("hazards happen when the draw says so") {
    simulate_options o;
    o.flip_hazard = 0.5;
    o.error_rate = 0.25;
    CHECK(content(chat(greedy, {.flip = 0.6}, o)) == content(chat(greedy)));
    const std::string flipped = content(chat(greedy, {.flip = 0.4, .seed = 3}, o));
    CHECK(flipped != content(chat(greedy)));
    CHECK(flipped.front() == content(chat(greedy)).front());
    CHECK(chat(greedy, {.error = 0.2}, o).status == 500);
    CHECK(chat(greedy, {.error = 0.25}, o).status == 200);
}

TEST_CASE("a flip shows in answers that are cut short, too") {
    simulate_options o;
    o.flip_hazard = 1;
    const std::string_view brief =
        R"({"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0,"max_tokens":3})";
    for (std::uint64_t seed = 0; seed < 60; ++seed)
        CHECK(content(chat(brief, {.flip = 0.5, .seed = seed}, o)) != content(chat(brief)));
}

TEST_CASE("bad requests and statuses on request") {
    CHECK(chat("{").status == 400);
    CHECK(chat("[]").status == 400);
    CHECK(chat(R"({"messages":[{}]})").status == 400);
    CHECK(chat(R"({"model":"m"})").status == 400);
    CHECK(chat(R"({"model":"error-429","messages":[{}]})").status == 429);
    CHECK(chat(R"({"model":"error-200","messages":[{}]})").status == 200);
    CHECK(plan(options(), "GET", "/nowhere", "", {}).status == 404);
    CHECK(plan(options(), "GET", "/v1/chat/completions", "", {}).status == 404);
    CHECK(chat("{").model_call);
}

TEST_CASE("models, health and uploads") {
    CHECK(json::parse(text_of(plan(options(), "GET", "/v1/models", "", {}))).at("data").at(0).at("id") == "simulated");
    CHECK(json::parse(text_of(plan(options(), "GET", "/v1/models/x", "", {}))).at("id") == "x");
    CHECK(plan(options(), "GET", "/health", "", {}).status == 200);
    const json::value file = json::parse(text_of(plan_upload(
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jsonl\"\r\n\r\n", 1234, {.now = 5})));
    CHECK(file.at("bytes") == 1234);
    CHECK(file.at("filename") == "a.jsonl");
    CHECK(file.at("created_at") == 5);
}

TEST_CASE("waits: latency first, then one step a token") {
    simulate_options o;
    o.latency = std::chrono::milliseconds(300);
    o.tokens_per_second = 100;
    o.tokens = 3;
    const answer a = chat(R"({"model":"m","messages":[{}],"stream":true})", {}, o);
    std::vector<std::int64_t> waits;
    for (const piece& p : a.pieces) waits.push_back(p.wait.count() / 1000000);
    CHECK(waits == std::vector<std::int64_t>{300, 10, 10, 10, 0, 0});
    CHECK(chat(greedy, {}, o).pieces.front().wait == std::chrono::milliseconds(330));
}

TEST_CASE("the stream of an answer folds into its object form") {
    const auto check = [](std::string_view path, json::value request) {
        const auto* d = upstream::dialect::find("POST", path);
        const chance luck{.id = 9, .now = 1700000000};
        const std::string object = text_of(ask(path, json::serialize(request), luck));
        request.as_object()["stream"] = true;
        request.as_object()["stream_options"] = {{"include_usage", true}};
        const std::string stream = text_of(ask(path, json::serialize(request), luck));
        CAPTURE(stream);
        const auto folded = d->assemble(stream);
        REQUIRE(folded);
        CHECK(json::parse(*folded) == json::parse(object));
        CHECK(d->normalised(upstream::dialect::form::sse, stream) ==
              d->normalised(upstream::dialect::form::json, object));
        const auto split = d->split(object, true);
        REQUIRE(split);
        CHECK(json::parse(d->assemble(*split).value_or("null")) == json::parse(object));
    };
    const json::value messages = {{{"role", "user"}, {"content", "hi"}}};
    const json::value tools = {
        {{"type", "function"},
         {"function", {{"name", "f"}, {"parameters", {{"properties", {{"x", {{"type", "string"}}}}}}}}}}};
    check("/v1/chat/completions", {{"model", "m"}, {"temperature", 0}, {"messages", messages}});
    check("/v1/chat/completions", {{"model", "m"}, {"temperature", 0}, {"messages", messages}, {"max_tokens", 1}});
    check("/v1/chat/completions",
          {{"model", "m"}, {"seed", 1}, {"messages", messages}, {"n", 3}, {"logprobs", true}, {"top_logprobs", 2}});
    check("/v1/chat/completions", {{"model", "m"}, {"temperature", 0}, {"messages", messages}, {"tools", tools}});
    check("/v1/completions",
          {{"model", "m"}, {"temperature", 0}, {"prompt", {"a", "b"}}, {"n", 2}, {"logprobs", 1}, {"echo", true}});
}
