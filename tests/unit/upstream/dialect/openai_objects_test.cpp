// OpenAI's moderations, images and speech, and what sets Mistral apart on OpenAI's paths.
#include <doctest/doctest.h>

#include <string>

#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/mistral.hpp"
#include "upstream/dialect/registry.hpp"

using namespace idem;
using namespace idem::upstream::dialect;

namespace {

verdict judged(const dialect& d, std::string_view request, std::string_view body, bool framed = true) {
    const auto w = d.watch(form::json, d.read(request));
    w->feed(body.substr(0, body.size() / 2));
    w->feed(body.substr(body.size() / 2));
    return w->finish(framed);
}

reason moderated(std::string_view input, std::string_view body) {
    return judged(openai_moderations(), R"({"model":"m","input":)" + std::string(input) + "}", body).refuse;
}

verdict painted(std::string_view more, std::string_view data) {
    return judged(openai_images(), R"({"model":"m","prompt":"p")" + std::string(more) + "}",
                  R"({"created":1,"data":)" + std::string(data) + R"(,"usage":{"input_tokens":3,"output_tokens":7}})");
}

}  // namespace

TEST_CASE("plain objects and FIM completions find their dialect, calls in multipart form none") {
    CHECK(find("POST", "/v1/moderations") == &openai_moderations());
    CHECK(find("POST", "/moderations") == &openai_moderations());
    CHECK(find("POST", "/v1/images/generations") == &openai_images());
    CHECK(find("POST", "/v1/audio/speech") == &openai_speech());
    CHECK(find("POST", "/v1/fim/completions") == &mistral_fim());
    for (const std::string_view path : {"/v1/images/edits", "/v1/images/variations", "/v1/audio/transcriptions",
                                        "/v1/audio/translations", "/v1/videos", "/v1/agents/completions"}) {
        CHECK(find("POST", path) == nullptr);
    }
}

TEST_CASE("a moderation has one result for each text, and one for an input of several kinds") {
    constexpr std::string_view one = R"({"id":"modr-1","model":"m-1","results":[{"flagged":false}]})";
    CHECK(moderated(R"("a")", one) == reason::none);
    CHECK(moderated(R"(["a"])", one) == reason::none);
    CHECK(moderated(R"([{"type":"text","text":"a"},{"type":"image_url"}])", one) == reason::none);
    CHECK(moderated(R"(["a","b"])", one) == reason::choice_unfinished);
    CHECK(moderated(R"(["a","b"])", R"({"results":[{},{}]})") == reason::none);
    CHECK(moderated(R"("a")", R"({"results":[]})") == reason::no_choices);
    CHECK(moderated(R"("a")", "{}") == reason::no_choices);
    CHECK(moderated(R"("a")", R"({"results":[1]})") == reason::answer_malformed);
    CHECK(moderated(R"("a")", R"({"error":{"message":"x"}})") == reason::error_in_answer);
    CHECK(moderated(R"("a")", one.substr(1)) == reason::answer_malformed);
    CHECK(judged(openai_moderations(), "{}", one, false).refuse == reason::framing_incomplete);
    CHECK(judged(openai_moderations(), "{}", one).model == "m-1");
    CHECK(openai_moderations().read(R"({"model":"m"})").greedy);
    const auto normal = [](std::string_view body) { return openai_moderations().normalised(form::json, body); };
    CHECK(normal(one) == R"([{"flagged":false}])");
    CHECK(normal(one) == normal(R"({"id":"other","results":[{"flagged":false,"x":1}]})"));
    CHECK(normal(one) != normal(R"({"results":[{"flagged":true}]})"));
    CHECK_FALSE(normal("[]"));
}

TEST_CASE("images are kept as base64, not as URLs of what the provider holds") {
    CHECK(painted("", R"([{"b64_json":"AAAA"}])").refuse == reason::none);
    CHECK(painted("", R"([{"b64_json":"AAAA"}])").tokens->output == 7);
    CHECK(painted(R"(,"n":2)", R"([{"b64_json":"AAAA"},{"b64_json":"BBBB"}])").refuse == reason::none);
    CHECK(painted(R"(,"n":2)", R"([{"b64_json":"AAAA"}])").refuse == reason::choice_unfinished);
    CHECK(painted("", R"([{"url":"https://example.com/1.png"}])").refuse == reason::stateful_call);
    CHECK(painted("", R"([{}])").refuse == reason::answer_malformed);
    CHECK(painted("", R"([1])").refuse == reason::answer_malformed);
    CHECK(painted("", "[]").refuse == reason::no_choices);
    CHECK(judged(openai_images(), "{}", R"({"error":{}})").refuse == reason::error_in_answer);
    const auto read = [](std::string_view more) {
        return openai_images().read(R"({"model":"m","prompt":"p")" + std::string(more) + "}");
    };
    CHECK_FALSE(read(R"(,"stream":false,"response_format":"b64_json")").bypass);
    CHECK(read(R"(,"str\u0065am":true)").bypass == reason::form_unsupported);
    CHECK(read(R"(,"response_format":"ur\u006c")").bypass == reason::stateful_call);
    CHECK(read(R"(,"seed":1)").seeded);
    CHECK_FALSE(read("").greedy);
    CHECK(openai_images().normalised(form::json, R"({"created":1,"data":[{"b64_json":"AAAA"}]})") ==
          openai_images().normalised(form::json, R"({"created":2,"data":[{"b64_json":"AAAA"}]})"));
}

TEST_CASE("speech is passed through by name, with its model and OpenAI's errors") {
    const call c = openai_speech().read(R"({"model":"tts-1","input":"a","voice":"alloy"})");
    CHECK(c.model == "tts-1");
    CHECK(c.bypass == reason::form_unsupported);
    CHECK(openai_speech().read("{}").bypass == reason::missing_model);
    CHECK(judged(openai_speech(), "{}", "{}").refuse == reason::form_unsupported);
    CHECK(error_body("/v1/audio/speech", 502, reason::upstream_connect, "x").find(R"({"error":)") == 0);
}

TEST_CASE("Mistral's seed is a seed, and tools that a provider runs forbid caching on the chat path too") {
    const auto chat = [](std::string_view more) {
        return openai_chat().read(R"({"model":"m","messages":[])" + std::string(more) + "}");
    };
    CHECK(chat(R"(,"random_seed":7)").seeded);
    CHECK_FALSE(chat(R"(,"random_seed":null)").seeded);
    CHECK_FALSE(chat(R"(,"tools":[{"type":"function","function":{}},{"function":{}},{"type":"custom"}])").bypass);
    CHECK(chat(R"(,"tools":[{"type":"web_search"}])").bypass == reason::time_dependent_call);
    CHECK(chat(R"(,"tools":[{"type":"web_search_premium"}])").bypass == reason::time_dependent_call);
    CHECK(chat(R"(,"tools":[{"type":"document_library"}])").bypass == reason::stateful_call);
    CHECK(chat(R"(,"tools":[{"type":"code_interpreter"}])").bypass == reason::side_effecting_call);
    CHECK(chat(R"(,"tools":[{"type":"connector"}])").bypass == reason::side_effecting_call);
}

TEST_CASE("usage is not asked of Mistral, which sends it anyway and answers 422 to the question") {
    const auto asks = [](std::string_view more) {
        return openai_chat().ask_usage(R"({"messages":[],"stream":true,)" + std::string(more) + "}").has_value();
    };
    CHECK(asks(R"("model":"gpt-5")"));
    CHECK(asks(R"("model":"mistralai/Mistral-7B")"));
    CHECK(asks(R"("model":"m","random_seed":null)"));
    CHECK_FALSE(asks(R"("model":"mistral-large-latest")"));
    CHECK_FALSE(asks(R"("model":"codestral-2508")"));
    CHECK_FALSE(asks(R"("model":"m","safe_prompt":true)"));
    CHECK_FALSE(asks(R"("model":"m","prompt_mode":"reasoning")"));
    CHECK_FALSE(asks(R"("model":"m","random_seed":1)"));
    CHECK_FALSE(mistral_fim().ask_usage(R"({"model":"m","prompt":"a","stream":true})"));
}

TEST_CASE("a stream made of an answer of Mistral's has its usage in the last choice, also unasked") {
    const auto object = [](std::string_view model) {
        return R"({"id":"c","object":"chat.completion","created":1,"model":")" + std::string(model) +
               R"(","choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],"usage":{"total_tokens":3}})";
    };
    const auto theirs = openai_chat().split(object("mistral-small-2506"), false);
    REQUIRE(theirs);
    CHECK(theirs->find(R"("finish_reason":"stop"}],"usage":{"total_tokens":3}})") != theirs->npos);
    CHECK(theirs->find("null}\n") == theirs->npos);
    CHECK(is_json(*openai_chat().assemble(*theirs)));
    CHECK(find_member(*openai_chat().assemble(*theirs), "usage") == R"({"total_tokens":3})");
    CHECK(openai_chat().split(object("gpt-5"), false)->find("total_tokens") == std::string::npos);
}

TEST_CASE("FIM completions are chat choices in both forms") {
    const call c = mistral_fim().read(
        R"({"model":"codestral","prompt":"a","suffix":"b","random_seed":1,"max_tokens":5,"temperature":0,"stream":true})");
    CHECK(c.wanted == form::sse);
    CHECK(c.seeded);
    CHECK(c.limit_set);
    CHECK(c.greedy);
    CHECK_FALSE(c.bypass);
    const auto chunk = [](std::string_view delta, std::string_view finish, std::string_view usage = "") {
        return R"(data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"codestral","choices":[{"index":0,"delta":)" +
               std::string(delta) + R"(,"finish_reason":)" + std::string(finish) + "}]" + std::string(usage) + "}\n\n";
    };
    const std::string stream = chunk(R"({"role":"assistant","content":""})", "null") +
                               chunk(R"({"content":"x"})", "null") +
                               chunk(R"({"content":"y"})", R"("stop")",
                                     R"(,"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3})") +
                               "data: [DONE]\n\n";
    const auto w = mistral_fim().watch(form::sse, c);
    w->feed(stream);
    const verdict v = w->finish(true);
    CHECK(v.refuse == reason::none);
    REQUIRE(v.tokens);
    CHECK(v.tokens->output == 2);
    CHECK_FALSE(w->usage_event());
    const auto object = mistral_fim().assemble(stream);
    REQUIRE(object);
    CHECK(find_member(find_member(*object, "usage"), "total_tokens") == "3");
    const auto again = mistral_fim().split(*object, true);
    REQUIRE(again);
    CHECK(mistral_fim().assemble(*again) == object);
    CHECK(mistral_fim().normalised(form::sse, stream) == mistral_fim().normalised(form::json, *object));
}
