// What the OpenAI dialects read off requests, and their error bodies.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/registry.hpp"

using namespace idem;
using namespace idem::upstream::dialect;

namespace {

call chat(std::string_view body) {
    return openai_chat().read(body);
}
call completion(std::string_view body) {
    return openai_completions().read(body);
}
call embedding(std::string_view body) {
    return openai_embeddings().read(body);
}

bool has(std::span<const std::string_view> list, std::string_view pointer) {
    return std::find(list.begin(), list.end(), pointer) != list.end();
}

}  // namespace

TEST_CASE("calls find their dialect with and without /v1, others none") {
    CHECK(find("POST", "/v1/chat/completions") == &openai_chat());
    CHECK(find("POST", "/chat/completions") == &openai_chat());
    CHECK(find("POST", "/v1/completions") == &openai_completions());
    CHECK(find("POST", "/completions") == &openai_short_completions());
    CHECK(find("POST", "/embeddings") == &openai_short_embeddings());
    CHECK(find("POST", "/v1/embeddings") == &openai_embeddings());
    CHECK(find("GET", "/v1/chat/completions") == nullptr);
    CHECK(find("POST", "/v1/chat/completions/") == nullptr);
    CHECK(find("POST", "/v1/models") == nullptr);
    CHECK(find("POST", "") == nullptr);
    CHECK(by_name("openai.chat") == &openai_chat());
    CHECK(by_name("openai.completions") == &openai_completions());
    CHECK(by_name("openai.embeddings") == &openai_embeddings());
    CHECK(by_name("openai") == nullptr);
}

TEST_CASE("a plain chat call") {
    const call c = chat(R"({"model":"m","messages":[{"role":"user","content":"hi \"stream\":true"}]})");
    CHECK(c.model == "m");
    CHECK(c.wanted == form::json);
    CHECK(c.choices == 1);
    CHECK_FALSE(c.usage_asked);
    CHECK_FALSE(c.limit_set);
    CHECK_FALSE(c.seeded);
    CHECK_FALSE(c.greedy);
    CHECK_FALSE(c.bypass);
}

TEST_CASE("a chat call with everything") {
    const call c = chat(R"({ "messages": [], "temperature": -0.0, "seed": 7, "n": 3, "max_completion_tokens": 9,
        "stream_options": {"include_usage": true}, "stream": true, "model": "meta\/Llama-\u0033" })");
    CHECK(c.model == "meta/Llama-3");
    CHECK(c.wanted == form::sse);
    CHECK(c.choices == 3);
    CHECK(c.usage_asked);
    CHECK(c.limit_set);
    CHECK(c.seeded);
    CHECK(c.greedy);
    CHECK_FALSE(c.bypass);
}

TEST_CASE("a form that servers disagree about is passed through") {
    for (const auto* odd : {"\"true\"", "1", "1.0", "0", "\"yes\"", "[]", "{}"}) {
        const std::string value = odd;
        CAPTURE(value);
        const std::string stream = ",\"stream\":" + value + "}";
        CHECK(chat(R"({"model":"m")" + stream).bypass == reason::form_unsupported);
        CHECK(completion(R"({"model":"m","prompt":"x")" + stream).bypass == reason::form_unsupported);
        CHECK(openai_responses().read(R"({"model":"m","input":"x")" + stream).bypass == reason::form_unsupported);
        CHECK(anthropic_messages().read(R"({"model":"m")" + stream).bypass == reason::form_unsupported);
        CHECK(ollama_chat().read(R"({"model":"m","messages":[{}])" + stream).bypass == reason::form_unsupported);
        CHECK(llamacpp_completion().read(R"({"prompt":"x")" + stream).bypass == reason::form_unsupported);
        CHECK(sglang_generate().read(R"({"text":"x")" + stream).bypass == reason::form_unsupported);
        CHECK(tgi_root().read(R"({"inputs":"x")" + stream).bypass == reason::form_unsupported);
        CHECK(chat(R"({"model":"m","stream":true,"stream_options":{"include_usage":)" + value + "}}").bypass ==
              reason::form_unsupported);
    }
    // Usage in every chunk could not be hidden from those who did not ask.
    const auto continuous = [](std::string_view value) {
        return chat(R"({"model":"m","stream":true,"stream_options":{"continuous_usage_stats":)" + std::string(value) +
                    "}}");
    };
    CHECK(continuous("true").bypass == reason::form_unsupported);
    CHECK_FALSE(continuous("false").bypass);
    CHECK_FALSE(continuous("null").bypass);
}

TEST_CASE("null is absent, and absent is no default") {
    const call c = chat(R"({"model":"m","stream":null,"n":null,"seed":null,"temperature":null,"max_tokens":null,
        "store":null,"web_search_options":null,"stream_options":null})");
    CHECK(c.wanted == form::json);
    CHECK(c.choices == 1);
    CHECK_FALSE(c.seeded);
    CHECK_FALSE(c.greedy);
    CHECK_FALSE(c.limit_set);
    CHECK_FALSE(c.bypass);
}

TEST_CASE("keys count however they are spelled") {
    const call c = chat(R"({"mod\u0065l":"m","str\u0065am":true})");
    CHECK(c.model == "m");
    CHECK(c.wanted == form::sse);
}

TEST_CASE("values of the wrong type ask for nothing") {
    const call c =
        chat(R"({"model":"m","stream":"true","n":"2","seed":"1","temperature":"0","stream_options":[true]})");
    CHECK(c.wanted == form::json);
    CHECK(c.choices == 1);
    CHECK_FALSE(c.seeded);
    CHECK_FALSE(c.greedy);
    CHECK(chat(R"({"model":"m","n":-1})").choices == 1);
    CHECK(chat(R"({"model":"m","n":1e300})").choices == 1);
    CHECK(chat(R"({"model":"m","n":2.0})").choices == 2);
}

TEST_CASE("seeds that mean `choose one` are none") {
    CHECK_FALSE(chat(R"({"model":"m","seed":-1})").seeded);
    CHECK_FALSE(chat(R"({"model":"m","seed":4294967295})").seeded);
    CHECK(chat(R"({"model":"m","seed":0})").seeded);
}

TEST_CASE("calls that must not be cached say why") {
    CHECK(chat(R"({"messages":[]})").bypass == reason::missing_model);
    CHECK(chat(R"({"model":""})").bypass == reason::missing_model);
    CHECK(chat(R"({"model":7})").bypass == reason::missing_model);
    CHECK(chat(R"({"model":"m","store":true})").bypass == reason::stateful_call);
    CHECK_FALSE(chat(R"({"model":"m","store":false})").bypass);
    CHECK(chat(R"({"model":"m","session_params":{"id":"x"}})").bypass == reason::stateful_call);
    CHECK(chat(R"({"model":"m","kv_transfer_params":{"do_remote_decode":true}})").bypass == reason::stateful_call);
    CHECK_FALSE(chat(R"({"model":"m","kv_transfer_params":{"do_remote_decode":false}})").bypass);
    CHECK(chat(R"({"model":"m","web_search_options":{}})").bypass == reason::time_dependent_call);
    CHECK(chat(R"({"model":"m","search_parameters":{"mode":"auto"}})").bypass == reason::time_dependent_call);
    CHECK(chat(R"({"model":"gpt-4o-search-preview-2025-03-11"})").bypass == reason::time_dependent_call);
    CHECK(chat(R"({"model":"openai/gpt-5-search-api"})").bypass == reason::time_dependent_call);
    CHECK(chat(R"({"model":"meta/llama:online"})").bypass == reason::time_dependent_call);
    CHECK(chat(R"({"model":"perplexity/sonar-pro"})").bypass == reason::time_dependent_call);
    CHECK_FALSE(chat(R"({"model":"research-preview"})").bypass);
    CHECK(completion(R"({"prompt":"x"})").bypass == reason::missing_model);
    CHECK(embedding(R"({"input":"x"})").bypass == reason::missing_model);
}

TEST_CASE("completions answer every prompt n times") {
    CHECK(completion(R"({"model":"m","prompt":"a"})").choices == 1);
    CHECK(completion(R"({"model":"m","prompt":["a","b"],"n":3})").choices == 6);
    CHECK(completion(R"({"model":"m","n":2,"prompt":[1,2,3]})").choices == 2);
    CHECK(completion(R"({"model":"m","prompt":[[1,2],[3]]})").choices == 2);
    CHECK(completion(R"({"model":"m","prompt":[]})").choices == 1);
    CHECK(completion(R"({"model":"m","max_tokens":1,"prompt":"a"})").limit_set);
}

TEST_CASE("embeddings answer every input") {
    CHECK(embedding(R"({"model":"m","input":["a","b","a"]})").choices == 3);
    CHECK(embedding(R"({"model":"m","input":[1,2]})").choices == 1);
    CHECK(embedding(R"({"model":"m","input":[[1],[2]]})").choices == 2);
    CHECK(embedding(R"({"model":"m","input":"a","stream":true})").wanted == form::json);
}

TEST_CASE("rules name what is transport and keep what is content") {
    const body_rules r = openai_chat().rules();
    for (const std::string_view p :
         {"/stream", "/stream_options", "/user", "/safety_identifier", "/metadata", "/store", "/prompt_cache_key",
          "/prompt_cache_retention", "/prediction", "/cache", "/priority"}) {
        CHECK(has(r.ignored, p));
    }
    for (const std::string_view p : {"/seed", "/service_tier", "/n", "/logprobs"}) {
        CHECK_FALSE(has(r.ignored, p));
    }
    CHECK(has(r.order_kept, "/tools/*/function/parameters"));
    CHECK(has(r.order_kept, "/response_format/json_schema/schema"));
    CHECK(has(r.order_kept, "/chat_template_kwargs"));
    CHECK_FALSE(has(openai_embeddings().rules().ignored, "/encoding_format"));
    CHECK(has(openai_embeddings().rules().ignored, "/user"));
    CHECK(openai_chat().digest_headers().size() == 1);
    CHECK(openai_chat().digest_headers()[0] == "openai-beta");
}

TEST_CASE("usage is asked for by splicing, all other bytes stay") {
    const auto ask = [](std::string_view body) { return openai_chat().ask_usage(body).value_or("unchanged"); };
    CHECK(ask(R"({"stream" : true , "x":1.0 })") ==
          R"({"stream" : true , "x":1.0 ,"stream_options":{"include_usage":true}})");
    CHECK(ask("{\"stream\":true}\n") == "{\"stream\":true,\"stream_options\":{\"include_usage\":true}}\n");
    CHECK(ask(R"({"stream_options": null ,"stream":true})") ==
          R"({"stream_options": {"include_usage":true} ,"stream":true})");
    CHECK(ask(R"({"stream_options":{ },"stream":true})") ==
          R"({"stream_options":{"include_usage":true },"stream":true})");
    CHECK(ask(R"({"stream_options":{"a": 1},"stream":true})") ==
          R"({"stream_options":{"include_usage":true,"a": 1},"stream":true})");
    CHECK(ask(R"({"stream":true,"stream_options":{"a":1,"include_usage": false }})") ==
          R"({"stream":true,"stream_options":{"a":1,"include_usage": true }})");
    CHECK(ask(R"({"stream":true,"stream_options":{"include_usage":null}})") ==
          R"({"stream":true,"stream_options":{"include_usage":true}})");
    CHECK(ask(R"({"stream":true,"stream_options":{"include_usage":true}})") == "unchanged");
    CHECK(ask(R"({"stream":true,"stream_options":{"include_usage":1}})") == "unchanged");
    CHECK(ask(R"({"stream":true,"stream_options":"x"})") == "unchanged");
    CHECK(ask(R"({"stream":false,"stream_options":{}})") == "unchanged");
    CHECK(ask(R"({"messages":[{"stream":true}]})") == "unchanged");
    CHECK_FALSE(openai_embeddings().ask_usage(R"({"stream":true})"));
}

TEST_CASE("error bodies have the members the SDKs read") {
    CHECK(openai_chat().error_body(503, reason::overloaded, "try \"later\"\n") ==
          R"({"error":{"message":"try \"later\"\n","type":"server_error","param":null,"code":"overloaded"}})");
    CHECK(
        openai_chat().error_event(reason::upstream_reset, "gone") ==
        "data: "
        "{\"error\":{\"message\":\"gone\",\"type\":\"server_error\",\"param\":null,\"code\":\"upstream_reset\"}}\n\n");
    CHECK(error_body("/v1/anything", 401, reason::unauthorized, "") ==
          R"({"error":{"message":"","type":"authentication_error","param":null,"code":"unauthorized"}})");
    CHECK(error_body("/v1/anything", 400, reason::bad_request, "x").find("\"invalid_request_error\"") !=
          std::string::npos);
    CHECK(is_json(error_body("/v1/anything", 400, reason::bad_request, "\xff\x01\x7f\b\t\f\r\v")));
    CHECK(content_type(form::ndjson) == "application/x-ndjson");
}
