#include "gateway/eval/token_input.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>

namespace idem::gateway::eval {

namespace {

namespace json = boost::json;

const prompt chat{
    "one", "file", "/v1/chat/completions",
    R"({"messages":[{"role":"user","content":"hi"}],"tools":[1],"max_completion_tokens":9,"logprobs":true,)"
    R"("top_logprobs":3,"temperature":0})",
    5};
const prompt text{"two", "file", "/v1/completions", R"({"prompt":"hi","max_tokens":4})", 5};

json::object object_of(const std::string& body) {
    return json::parse(body).as_object();
}

}  // namespace

TEST_CASE("one call of vLLM and SGLang makes ids of a text or a conversation") {
    for (const std::string_view engine : {"vllm", "sglang"}) {
        std::string why;
        auto call = next_token_call(engine, chat, "m", "", why);
        REQUIRE(call);
        CHECK(call->path == "/tokenize");
        CHECK(object_of(call->body) ==
              object_of(R"({"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[1]})"));
        call = next_token_call(engine, text, "", "", why);
        REQUIRE(call);
        CHECK(object_of(call->body) == object_of(R"({"prompt":"hi"})"));
        CHECK_FALSE(next_token_call(engine, text, "", R"({"tokens":[1]})", why));
        CHECK(why.empty());
        const auto made = with_token_ids(engine, chat, R"({"count":2,"tokens":[5,7],"max_model_len":9})", why);
        REQUIRE(made);
        CHECK(made->id == "one");
        CHECK(made->runs == 5);
        CHECK(made->path == "/v1/completions");
        CHECK(object_of(made->body) ==
              object_of(R"({"prompt":[5,7],"max_tokens":9,"logprobs":3,"temperature":0,"return_token_ids":true})"));
        CHECK(has_token_ids(*made));
    }
    CHECK_FALSE(has_token_ids(chat));
    CHECK_FALSE(has_token_ids(text));
}

TEST_CASE("llama.cpp first renders a conversation, then makes ids of it") {
    std::string why;
    auto call = next_token_call("llamacpp", chat, "m", "", why);
    REQUIRE(call);
    CHECK(call->path == "/apply-template");
    CHECK(object_of(call->body) == object_of(R"({"messages":[{"role":"user","content":"hi"}],"tools":[1]})"));
    call = next_token_call("llamacpp", chat, "m", R"({"prompt":"<user>hi"})", why);
    REQUIRE(call);
    CHECK(call->path == "/tokenize");
    CHECK(object_of(call->body) == object_of(R"({"content":"<user>hi","add_special":true,"parse_special":true})"));
    CHECK_FALSE(next_token_call("llamacpp", chat, "m", R"({"tokens":[1]})", why));
    const prompt own{"three", "file", "/completion", R"({"prompt":"hi","n_predict":4})", 5};
    call = next_token_call("llamacpp", own, "m", "", why);
    REQUIRE(call);
    CHECK(call->path == "/tokenize");
    CHECK(why.empty());
    const auto made = with_token_ids("llamacpp", own, R"({"tokens":[3]})", why);
    REQUIRE(made);
    CHECK(made->path == "/completion");
    CHECK(object_of(made->body) == object_of(R"({"prompt":[3],"n_predict":4,"return_tokens":true})"));
}

TEST_CASE("prompts and answers without ids are named") {
    std::string why;
    CHECK_FALSE(next_token_call("vllm", {"m", "file", "/v1/messages", "{}", 5}, "m", "", why));
    CHECK(why.find("\"m\" is neither") != std::string::npos);
    for (const std::string body : {R"({"prompt":["a","b"]})", R"({"prompt":[1]})", "{}", "["}) {
        why.clear();
        CHECK_FALSE(next_token_call("vllm", {"p", "file", "/v1/completions", body, 5}, "m", "", why));
        CHECK_FALSE(why.empty());
    }
    for (const std::string answer : {"", "[]", R"({"tokens":[]})", R"({"tokens":"1"})", R"({"tokens":[-1]})",
                                     R"({"tokens":[1.5]})", R"({"tokens":[{"id":1}]})"}) {
        why.clear();
        CHECK_FALSE(with_token_ids("vllm", text, answer, why));
        CHECK(why == "the answer of /tokenize has no list of token ids");
    }
    why.clear();
    CHECK_FALSE(next_token_call("llamacpp", chat, "m", "{}", why));
    CHECK(why == "the answer of /apply-template has no prompt");
    CHECK(takes_tokens("sglang"));
    CHECK_FALSE(takes_tokens("openai"));
}

}  // namespace idem::gateway::eval
