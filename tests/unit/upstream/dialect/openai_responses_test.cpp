// What the OpenAI responses dialect reads off requests, and when its answers are complete and good.
#include <doctest/doctest.h>

#include <string>

#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/openai_responses_watch.hpp"
#include "upstream/dialect/registry.hpp"
#include "upstream/dialect/sse.hpp"

using namespace idem;
using namespace idem::upstream::dialect;

namespace {

call read(std::string_view more) {
    return openai_responses().read(R"({"model":"m","input":"hi")" + std::string(more) + "}");
}

verdict watch(form f, std::string_view body, bool framed = true) {
    const auto w = openai_responses().watch(f, call{});
    w->feed(body);
    return w->finish(framed);
}

std::string event(std::string_view type, std::string_view rest = "") {
    return "event: " + std::string(type) + "\ndata: {\"type\":\"" + std::string(type) + "\",\"sequence_number\":0" +
           std::string(rest) + "}\n\n";
}

std::string response(std::string_view status, std::string_view output, std::string_view more = "") {
    return R"({"id":"resp_1","object":"response","model":"m-1","error":null,"status":")" + std::string(status) +
           R"(","output":)" + std::string(output) +
           R"(,"usage":{"input_tokens":3,"input_tokens_details":{"cached_tokens":1},"output_tokens":7})" +
           std::string(more) + "}";
}

const std::string message =
    R"({"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"hé","annotations":[]}]})";
const std::string items = "[" + message + "]";
const std::string cut_short = R"(,"incomplete_details":{"reason":"max_output_tokens"})";

std::string end(std::string_view type, std::string_view object) {
    return event(type, ",\"response\":" + std::string(object));
}

const std::string begin = end("response.created", response("in_progress", "[]"));
const std::string delta =
    event("response.output_text.delta", R"(,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"hé")");
const std::string whole = begin + delta + end("response.completed", response("completed", items));

reason of_stream(std::string_view body, bool framed = true) {
    return watch(form::sse, body, framed).refuse;
}
reason of_object(std::string_view body, bool framed = true) {
    return watch(form::json, body, framed).refuse;
}

}  // namespace

TEST_CASE("calls find the dialect with and without /v1, others none") {
    CHECK(find("POST", "/v1/responses") == &openai_responses());
    CHECK(find("POST", "/responses") == &openai_responses());
    CHECK(find("GET", "/v1/responses") == nullptr);
    CHECK(find("GET", "/v1/responses/resp_1") == nullptr);
    CHECK(find("DELETE", "/v1/responses/resp_1") == nullptr);
    CHECK(find("POST", "/v1/responses/resp_1/cancel") == nullptr);
    CHECK(find("POST", "/v1/responses/input_tokens") == nullptr);
    CHECK(find("POST", "/v1/responses/compact") == nullptr);
    CHECK(by_name("openai.responses") == &openai_responses());
}

TEST_CASE("a plain call and one with everything") {
    const call plain = read("");
    CHECK(plain.model == "m");
    CHECK(plain.wanted == form::json);
    CHECK_FALSE(plain.limit_set);
    CHECK_FALSE(plain.greedy);
    CHECK_FALSE(plain.bypass);
    const call full = read(R"(,"stre\u0061m":true,"max_output_tokens":9,"temperature":0.0,"stream_options":{}
        ,"store":true,"background":false,"previous_response_id":null,"conversation":null,"prompt":null,"tools":null)");
    CHECK(full.wanted == form::sse);
    CHECK(full.limit_set);
    CHECK(full.greedy);
    CHECK_FALSE(full.usage_asked);
    CHECK_FALSE(full.bypass);
    CHECK(openai_responses().read(R"({"input":"hi"})").bypass == reason::missing_model);
}

TEST_CASE("tools of the client are cached, also those that come later; all others are not") {
    const auto tools = [](std::string_view list) { return read(R"(,"tools":[)" + std::string(list) + "]").bypass; };
    CHECK_FALSE(tools(R"({"type":"function","name":"f"},{"type":"custom","name":"g"})"));
    CHECK_FALSE(tools(R"({"type":"namespace","name":"n","tools":[{"type":"function","name":"f"}]})"));
    CHECK(tools(R"({"type":"function"},{"type":"mcp"})") == reason::side_effecting_call);
    CHECK(tools(R"({"type":"namespace","tools":[{"type":"web_search"}]})") == reason::time_dependent_call);
    CHECK(tools(R"({"type":"web_search_preview_2025_03_11"})") == reason::time_dependent_call);
    CHECK(tools(R"({"type":"web\u005fsearch"})") == reason::time_dependent_call);
    const auto input = [](std::string_view list) {
        return openai_responses().read(R"({"model":"m","input":[)" + std::string(list) + "]}").bypass;
    };
    CHECK_FALSE(input(R"({"role":"user","content":"an item_reference is no item"})"));
    CHECK(input(R"({"type":"item_reference","id":"msg_1"})") == reason::stateful_call);
    CHECK(input(R"({"type":"additional_tools","tools":[{"type":"shell"}]})") == reason::side_effecting_call);
    CHECK_FALSE(input(R"({"type":"additional_tools","tools":[{"type":"custom"}]})"));
}

TEST_CASE("errors: OpenAI's object, and an event that every SDK version throws") {
    const std::string event_text = openai_responses().error_event(reason::upstream_truncated, "it \"ended\"");
    std::string_view in = event_text;
    sse_splitter splitter;
    REQUIRE(splitter.next(in) == sse_step::event);
    CHECK(splitter.event().type == "error");
    const std::string data(splitter.event().data);
    REQUIRE(is_json(data));
    CHECK(find_member(data, "type") == "\"error\"");
    CHECK(find_member(data, "code") == "\"upstream_truncated\"");
    CHECK(find_member(data, "message") == R"("it \"ended\"")");
    CHECK(find_member(find_member(data, "error"), "code") == "\"upstream_truncated\"");
    CHECK(of_stream(begin + event_text) == reason::error_in_answer);
    CHECK(error_body("/v1/responses", 504, reason::only_if_cached, "x").find(R"({"error":{"message":"x")") == 0);
}

TEST_CASE("a whole answer is good in both forms, and says model and tokens") {
    for (const verdict& v : {watch(form::sse, whole), watch(form::sse, whole + "data: [DONE]\n\n"),
                             watch(form::json, response("completed", items))}) {
        CHECK(v.refuse == reason::none);
        CHECK(v.model == "m-1");
        REQUIRE(v.tokens);
        CHECK(v.tokens->input == 3);
        CHECK(v.tokens->output == 7);
        CHECK_FALSE(v.length_limited);
    }
}

TEST_CASE("a stream that is cut anywhere is refused") {
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        CAPTURE(cut);
        CHECK(of_stream(std::string_view(whole).substr(0, cut)) != reason::none);
    }
    CHECK(of_stream(begin + delta) == reason::terminal_missing);
    CHECK(of_stream(whole, false) == reason::framing_incomplete);
    const std::string object = response("completed", items);
    for (std::size_t cut = 0; cut < object.size(); ++cut) {
        CAPTURE(cut);
        CHECK(of_object(std::string_view(object).substr(0, cut)) == reason::answer_malformed);
    }
    CHECK(of_object(object, false) == reason::framing_incomplete);
}

TEST_CASE("the verdict does not depend on how a stream is cut into pieces") {
    for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
        const auto w = openai_responses().watch(form::sse, call{});
        w->feed(std::string_view(whole).substr(0, cut));
        w->feed(std::string_view(whole).substr(cut));
        CHECK(w->finish(true).refuse == reason::none);
        CHECK(w->boundary() == whole.size());
    }
}

TEST_CASE("what an answer says of its own end") {
    const auto both = [](std::string_view type, const std::string& object) {
        const reason one = of_object(object);
        CHECK(of_stream(begin + end(type, object)) == one);
        return one;
    };
    CHECK(watch(form::json, response("incomplete", items, cut_short)).length_limited);
    CHECK(
        watch(form::sse, begin + end("response.incomplete", response("incomplete", items, cut_short))).length_limited);
    CHECK(both("response.incomplete", response("incomplete", items, cut_short)) == reason::none);
    CHECK(both("response.incomplete",
               response("incomplete", items, R"(,"incomplete_details":{"reason":"content_filter"})")) ==
          reason::content_filtered);
    CHECK(both("response.incomplete", response("incomplete", items)) == reason::choice_unfinished);
    CHECK(both("response.completed", response("queued", items)) == reason::choice_unfinished);
    CHECK(both("response.completed", response("in_progress", items)) == reason::choice_unfinished);
    CHECK(both("response.failed", response("failed", items)) == reason::error_in_answer);
    CHECK(both("response.failed", response("cancelled", items)) == reason::error_in_answer);
    CHECK(both("response.completed", response("completed", "[]")) == reason::no_choices);
    CHECK(both("response.completed", response("completed", "[1]")) == reason::answer_malformed);
    CHECK(both("response.completed", response("completed", "{}")) == reason::answer_malformed);
    CHECK(both("response.completed", response("completed", R"([{"type":"message","status":"in_progress"}])")) ==
          reason::choice_unfinished);
    CHECK(both("response.completed",
               response("completed", R"([{"type":"message","content":[{"type":"refusal","refusal":"no"}]}])")) ==
          reason::content_filtered);
    CHECK(both("response.failed",
               R"({"object":"response","status":"failed","error":{"code":"server_error","message":"x"}})") ==
          reason::error_in_answer);
    CHECK(of_object(R"({"error":{"message":"x","code":"invalid_prompt"}})") == reason::error_in_answer);
    CHECK(of_object(R"({"object":"list","status":"completed","output":[]})") == reason::answer_malformed);
    CHECK(of_object(response("", items)) == reason::choice_unfinished);
}

TEST_CASE("an end without output of its own stands on the items that are done") {
    const std::string bare = R"({"id":"resp_1","object":"response","model":"m-1","status":"completed"})";
    const std::string done = event("response.output_item.done", ",\"output_index\":0,\"item\":" + message);
    CHECK(of_stream(begin + done + end("response.completed", bare)) == reason::none);
    CHECK(of_stream(begin + end("response.completed", bare)) == reason::no_choices);
    CHECK(of_object(bare) == reason::no_choices);
}

TEST_CASE("streams that are no good") {
    CHECK(of_stream(begin + event("error", R"(,"code":"x","message":"y")")) == reason::error_in_answer);
    CHECK(of_stream(begin + "data: {\"error\":{\"message\":\"x\"}}\n\n" + delta) == reason::error_in_answer);
    CHECK(of_stream(whole + delta) == reason::answer_malformed);
    CHECK(of_stream(begin + "data: [DONE]\n\n") == reason::answer_malformed);
    CHECK(of_stream(begin + "event: response.completed\ndata: {\"type\":\"response.created\"}\n\n") ==
          reason::answer_malformed);
    CHECK(of_stream(begin + "data: {\"response\":{}}\n\n") == reason::answer_malformed);
    CHECK(of_stream(begin + "data: nonsense\n\n") == reason::answer_malformed);
    CHECK(of_stream(begin + event("response.completed", R"(,"response":1)")) == reason::answer_malformed);
    CHECK(of_stream(whole + "data: {\"half\":") == reason::answer_malformed);
}

TEST_CASE("comments, other line ends, unknown events and absent event lines are harmless") {
    std::string crlf;
    for (const char c : ": hello\n\n" + whole) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
    CHECK(of_stream(crlf) == reason::none);
    std::string bare = begin + event("response.of_next_year") + end("response.completed", response("completed", items));
    for (std::size_t at; (at = bare.find("event: ")) != bare.npos;) bare.erase(at, bare.find('\n', at) + 1 - at);
    CHECK(of_stream(bare) == reason::none);
}
