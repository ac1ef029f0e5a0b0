// What the Anthropic dialects read off requests, their error bodies, and the lines they leave out of the digest.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/registry.hpp"

using namespace idem;
using namespace idem::upstream::dialect;

namespace {

call message(std::string_view body) {
    return anthropic_messages().read(body);
}
call count(std::string_view body) {
    return anthropic_count_tokens().read(body);
}

call with_tools(std::string_view tools) {
    return message(R"({"model":"m","tools":[)" + std::string(tools) + "]}");
}

std::string rest_of(std::string_view body) {
    return anthropic_messages().without_nonces(body).value_or("unchanged");
}

const std::string nonce = "x-anthropic-billing-header: cc_version=2.1.100.7b4; cc_entrypoint=cli; cch=eb6c6;";

}  // namespace

TEST_CASE("calls find their dialect with and without /v1, others none") {
    CHECK(find("POST", "/v1/messages") == &anthropic_messages());
    CHECK(find("POST", "/messages") == &anthropic_messages());
    CHECK(find("POST", "/v1/messages/count_tokens") == &anthropic_count_tokens());
    CHECK(find("POST", "/messages/count_tokens") == &anthropic_count_tokens());
    CHECK(find("GET", "/v1/messages") == nullptr);
    CHECK(find("POST", "/v1/messages/") == nullptr);
    CHECK(find("POST", "/v1/messages/batches") == nullptr);
    CHECK(find("POST", "/v1/files") == nullptr);
    CHECK(by_name("anthropic.messages") == &anthropic_messages());
    CHECK(by_name("anthropic.count_tokens") == &anthropic_count_tokens());
}

TEST_CASE("a plain call and one with everything") {
    const call plain = message(R"({"model":"m","messages":[{"role":"user","content":"\"stream\":true"}]})");
    CHECK(plain.model == "m");
    CHECK(plain.wanted == form::json);
    CHECK(plain.choices == 1);
    CHECK_FALSE(plain.limit_set);
    CHECK_FALSE(plain.greedy);
    CHECK_FALSE(plain.bypass);
    const call full = message(R"({"max_tokens":9,"temperature":0.0,"str\u0065am":true,"model":"claude\u002d5"})");
    CHECK(full.model == "claude-5");
    CHECK(full.wanted == form::sse);
    CHECK(full.limit_set);
    CHECK(full.greedy);
    CHECK_FALSE(full.seeded);
    const call nulls = message(R"({"model":"m","stream":null,"max_tokens":null,"temperature":null,"container":null,
        "thread":null,"mcp_servers":null,"tools":null})");
    CHECK(nulls.wanted == form::json);
    CHECK_FALSE(nulls.limit_set);
    CHECK_FALSE(nulls.greedy);
    CHECK_FALSE(nulls.bypass);
}

TEST_CASE("a count samples nothing, has one form and runs no tool") {
    const call c = count(R"({"model":"m","stream":true,"tools":[{"type":"web_search_20250305","name":"web_search"}]})");
    CHECK(c.greedy);
    CHECK(c.wanted == form::json);
    CHECK_FALSE(c.bypass);
    CHECK(count(R"({"model":"m","mcp_servers":[{"name":"x"}]})").bypass == reason::side_effecting_call);
    CHECK(count("{}").bypass == reason::missing_model);
}

TEST_CASE("calls that must not be cached say why") {
    CHECK(message("{}").bypass == reason::missing_model);
    CHECK(message(R"({"model":""})").bypass == reason::missing_model);
    CHECK(message(R"({"model":7})").bypass == reason::missing_model);
    CHECK(message(R"({"model":"m","thread":{"type":"new"}})").bypass == reason::stateful_call);
    CHECK(message(R"({"model":"m","container":"container_01"})").bypass == reason::stateful_call);
    CHECK(message(R"({"model":"m","container":{"skills":[]}})").bypass == reason::stateful_call);
    CHECK(message(R"({"model":"m","mcp_servers":[{"type":"url"}]})").bypass == reason::side_effecting_call);
    CHECK_FALSE(message(R"({"model":"m","mcp_servers":[ ]})").bypass);
}

TEST_CASE("tools that run at the client are cacheable, all others not") {
    for (const std::string_view tool :
         {R"({"name":"f","input_schema":{"type":"object"}})", R"({"type":"custom","name":"f"})",
          R"({"type":null,"name":"f"})", R"({"type":"bash_20250124"})", R"({"type":"text_editor_20250728"})",
          R"({"type":"computer_20251124"})", R"({"type":"memory_20250818"})", R"({"type":"browser_toolset_20260801"})",
          R"({"type":"computer_toolset_20260801"})", R"({"name":"web_search","input_schema":{"type":"web_search"}})"}) {
        CAPTURE(tool);
        CHECK_FALSE(with_tools(tool).bypass);
    }
    CHECK(with_tools(R"({"type":"web_search_20250305"})").bypass == reason::time_dependent_call);
    CHECK(with_tools(R"({"name":"f"},{"t\u0079pe":"web_fetch_20260318"})").bypass == reason::time_dependent_call);
    for (const std::string_view tool :
         {R"({"type":"code_execution_20260521"})", R"({"type":"tool_search_tool_regex_20251119"})",
          R"({"type":"advisor_20260301"})", R"({"type":"mcp_toolset"})", R"({"type":"something_new_20280101"})",
          R"({"type":"bash_code_execution_20250825"})", R"({"type":"bash_2025"})", R"({"type":"bash20250124"})",
          R"({"type":7})"}) {
        CAPTURE(tool);
        CHECK(with_tools(tool).bypass == reason::side_effecting_call);
    }
}

TEST_CASE("tools that a turn brings count too") {
    const auto added = [](std::string_view tool) {
        return message(R"({"model":"m","messages":[{"role":"user","content":"x"},{"role":"user","content":[)"
                       R"({"type":"tool_addition","tool":)" +
                       std::string(tool) + "}]}]}")
            .bypass;
    };
    CHECK_FALSE(added(R"({"type":"tool_reference","name":"f"})"));
    CHECK_FALSE(added(R"({"type":"tool_definition","definition":{"name":"f","input_schema":{}}})"));
    CHECK(added(R"({"type":"tool_definition","definition":{"type":"web_search_20260318"}})") ==
          reason::time_dependent_call);
    CHECK(added(R"({"type":"mcp_toolset_reference","server_name":"s"})") == reason::side_effecting_call);
    CHECK_FALSE(message(R"({"model":"m","messages":[{"role":"user","content":"a tool_addition"}]})").bypass);
}

TEST_CASE("the billing line of coding agents is left out of the digest") {
    const auto system = [](std::string_view value) { return R"({"model":"m","system":)" + std::string(value) + "}"; };
    CHECK(rest_of(system("\"" + nonce + R"(\nYou are kind.")")) == system(R"("You are kind.")"));
    CHECK(rest_of(system("\"" + nonce + "\\n" + nonce + R"(\n\nx")")) == system(R"("\nx")"));
    CHECK(rest_of(system("\"" + nonce + "\"")) == system(R"("")"));
    CHECK(rest_of(system(R"([{"text":")" + nonce + R"(","type":"text"},{"text":"a","type":"text"}])")) ==
          system(R"([{"text":"a","type":"text"}])"));
    CHECK(rest_of(system(R"([ {"type":"text","text":"a"} , {"type":"text","text":")" + nonce + R"(\nb"}])")) ==
          system(R"([{"type":"text","text":"a"},{"type":"text","text":"b"}])"));
    CHECK(rest_of(system(R"([{"text":")" + nonce + R"("}])")) == system("[]"));
    CHECK(anthropic_count_tokens().without_nonces(system("\"" + nonce + "\"")));
    CHECK_FALSE(openai_chat().without_nonces(system("\"" + nonce + "\"")));
}

TEST_CASE("nothing else is taken for that line") {
    const auto kept = [](std::string_view text) {
        return rest_of(R"({"system":")" + std::string(text) + R"("})") == "unchanged";
    };
    CHECK(kept("be kind\\n" + nonce));
    CHECK(kept(" " + nonce));
    CHECK(kept("x-anthropic-billing-header: answer in French"));
    CHECK(kept("x-anthropic-billing-header: cch=eb6c6; answer in French"));
    CHECK(kept("x-anthropic-billing-header: cch=answer in French;"));
    CHECK(kept("x-anthropic-billing-header: cch=eb6c6"));
    CHECK(kept("x-anthropic-other-header: cch=eb6c6;"));
    CHECK(rest_of(R"({"messages":[{"role":"user","content":")" + nonce + R"("}],"system":"x"})") == "unchanged");
    CHECK(rest_of(R"({"messages":[{"role":"user","content":")" + nonce + R"("}]})") == "unchanged");
    CHECK(rest_of(R"({"system":{"text":")" + nonce + R"("}})") == "unchanged");
    CHECK(rest_of(R"({"system":7,"x":")" + nonce + R"("})") == "unchanged");
}

TEST_CASE("errors have the members the SDKs read, on every path of theirs") {
    CHECK(anthropic_messages().error_body(503, reason::overloaded, "try \"later\"") ==
          R"({"type":"error","error":{"type":"overloaded_error","message":"try \"later\"","code":"overloaded"}})");
    CHECK(anthropic_messages().error_event(reason::upstream_reset, "gone") ==
          "event: error\ndata: "
          R"({"type":"error","error":{"type":"api_error","message":"gone","code":"upstream_reset"}})"
          "\n\n");
    const auto type = [](unsigned status) {
        const std::string body = anthropic_messages().error_body(status, reason::bad_request, "");
        return std::string(string_inner(find_member(find_member(body, "error"), "type")));
    };
    CHECK(type(400) == "invalid_request_error");
    CHECK(type(401) == "authentication_error");
    CHECK(type(403) == "permission_error");
    CHECK(type(404) == "not_found_error");
    CHECK(type(413) == "request_too_large");
    CHECK(type(429) == "rate_limit_error");
    CHECK(type(502) == "api_error");
    CHECK(type(504) == "timeout_error");
    for (const std::string_view path :
         {"/v1/messages", "/messages", "/v1/messages/count_tokens", "/v1/messages/batches"}) {
        CHECK(error_body(path, 401, reason::unauthorized, "x") ==
              anthropic_messages().error_body(401, reason::unauthorized, "x"));
    }
    CHECK(error_body("/v1/models", 401, reason::unauthorized, "x") ==
          openai_chat().error_body(401, reason::unauthorized, "x"));
}
