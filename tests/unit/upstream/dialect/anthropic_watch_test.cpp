// When an Anthropic answer is complete and good.
#include "upstream/dialect/anthropic_watch.hpp"

#include <doctest/doctest.h>

#include <string>

#include "upstream/dialect/registry.hpp"
#include "upstream/dialect/sse.hpp"

using namespace idem;
using namespace idem::upstream::dialect;

namespace {

verdict watch(const dialect& d, form f, std::string_view body, bool framed = true) {
    const auto w = d.watch(f, call{});
    w->feed(body);
    return w->finish(framed);
}

verdict stream(std::string_view body, bool framed = true) {
    return watch(anthropic_messages(), form::sse, body, framed);
}

reason object_verdict(std::string_view body, bool framed = true) {
    return watch(anthropic_messages(), form::json, body, framed).refuse;
}

std::string event(std::string_view type, std::string_view rest = "") {
    return "event: " + std::string(type) + "\ndata: {\"type\":\"" + std::string(type) + "\"" + std::string(rest) +
           "}\n\n";
}

const std::string start = event(
    "message_start",
    R"(,"message":{"type":"message","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":3,"cache_read_input_tokens":4,"output_tokens":1}})");
const std::string begin_text = event("content_block_start", R"(,"index":0,"content_block":{"type":"text","text":""})");
const std::string text = event("content_block_delta", R"(,"index":0,"delta":{"type":"text_delta","text":"hé"})");
const std::string shut = event("content_block_stop", R"(,"index":0)");
const std::string ping = event("ping");
const std::string stop = event("message_stop");

std::string end(std::string_view why) {
    return event("message_delta",
                 R"(,"delta":{"stop_reason":")" + std::string(why) + R"("},"usage":{"output_tokens":7})");
}

const std::string block = begin_text + text + shut;
const std::string whole = start + ping + block + end("end_turn") + stop;

}  // namespace

TEST_CASE("a whole stream is good, and says model and tokens") {
    const verdict v = stream(whole);
    CHECK(v.refuse == reason::none);
    CHECK(v.model == "m");
    REQUIRE(v.tokens);
    CHECK(v.tokens->input == 7);
    CHECK(v.tokens->output == 7);
    CHECK_FALSE(v.length_limited);
}

TEST_CASE("a stream that is cut anywhere is refused") {
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        CAPTURE(cut);
        CHECK(stream(std::string_view(whole).substr(0, cut)).refuse != reason::none);
        CHECK(stream(std::string_view(whole).substr(0, cut), false).refuse != reason::none);
    }
    CHECK(stream(whole, false).refuse == reason::framing_incomplete);
}

TEST_CASE("feeding byte by byte changes nothing, with any line end") {
    std::string crlf;
    for (const char c : whole) crlf += c == '\n' ? "\r\n" : std::string(1, c);
    for (const std::string& body : {whole, crlf}) {
        const auto w = anthropic_messages().watch(form::sse, call{});
        for (const char c : body) w->feed(std::string_view(&c, 1));
        CHECK_FALSE(w->usage_event());
        CHECK(w->finish(true).refuse == reason::none);
        CHECK(w->boundary() == body.size());
    }
}

TEST_CASE("what is missing is named") {
    CHECK(stream("").refuse == reason::terminal_missing);
    CHECK(stream(start + block + end("end_turn")).refuse == reason::terminal_missing);
    CHECK(stream(start + block + stop).refuse == reason::choice_unfinished);
    CHECK(stream(start + begin_text + text + end("end_turn") + stop).refuse == reason::choice_unfinished);
    CHECK(stream(start + end("end_turn") + stop).refuse == reason::none);  // nothing to say is an answer
}

TEST_CASE("stop reasons") {
    CHECK(stream(start + block + end("max_tokens") + stop).length_limited);
    CHECK(stream(start + block + end("max_tokens") + stop).refuse == reason::none);
    CHECK(stream(start + block + end("tool_use") + stop).refuse == reason::none);
    CHECK(stream(start + block + end("some_new_reason") + stop).refuse == reason::none);
    CHECK(stream(start + block + end("pause_turn") + stop).refuse == reason::choice_unfinished);
    CHECK(stream(start + block + end("refusal") + stop).refuse == reason::content_filtered);
    CHECK(stream(start + block + end("model_context_window_exceeded") + stop).refuse == reason::answer_truncated);
    CHECK(stream(start + block + end("") + stop).refuse == reason::choice_unfinished);
}

TEST_CASE("errors in a stream, in every spelling") {
    for (const std::string_view bad :
         {R"(event: error
data: {"type":"error","error":{"type":"overloaded_error","message":"x"}})",
          "event: error\ndata: oops", R"(data: {"type":"error","error":{}})", R"(data: {"error":"x"})"}) {
        CAPTURE(bad);
        CHECK(stream(start + std::string(bad) + "\n\n").refuse == reason::error_in_answer);
        CHECK(stream(start + block + end("end_turn") + stop + std::string(bad) + "\n\n").refuse ==
              reason::error_in_answer);
    }
    CHECK(stream(R"({"type":"error","error":{}})").refuse == reason::terminal_missing);
}

TEST_CASE("nonsense in a stream is malformed") {
    const std::string tail = end("end_turn") + stop;
    const auto malformed = [](const std::string& body) { return stream(body).refuse == reason::answer_malformed; };
    CHECK(malformed("event: ping\ndata: {\n\n" + start + tail));
    CHECK(malformed("data: []\n\n" + start + tail));
    CHECK(malformed(start + start + tail));
    CHECK(malformed(block + tail));
    CHECK(malformed(stop));
    CHECK(malformed(whole + stop));
    CHECK(malformed(whole + "data: x"));
    CHECK(malformed("data: [DONE]\n\n" + start + tail));
    CHECK(malformed(start + text + tail));
    CHECK(malformed(start + shut + tail));
    CHECK(malformed(start + block + text + tail));
    CHECK(malformed(start + block + shut + tail));
    CHECK(malformed(start + block + block + tail));
    CHECK(malformed(start + event("content_block_start", R"(,"index":1,"content_block":{})") + tail));
    CHECK(malformed(start + event("content_block_start", R"(,"index":-1,"content_block":{})") + tail));
    CHECK(malformed(start + event("content_block_start", R"(,"index":0,"content_block":7)") + tail));
    CHECK(malformed(start + event("message_delta") + stop));
    CHECK(malformed(start + event("message_delta", R"(,"delta":{"stop_reason":7})") + stop));
    CHECK(malformed(event("message_start", R"(,"message":7)") + tail));
    CHECK(malformed(start + "event: message_stop\ndata: {\"type\":\"ping\"}\n\n" + tail));
    CHECK(malformed(start + "data: {\"type\":\"message_stop\"}\n\n" + tail));  // clients would see nothing of it
    CHECK(malformed("data:" + std::string(sse_splitter::max_line, ' ') + "\n\n" + whole));
}

TEST_CASE("harmless things in a stream") {
    CHECK(stream(": hello\n\n" + start + ": x\n\n" + block + end("end_turn") + stop + ping + ": bye\n\n").refuse ==
          reason::none);
    CHECK(stream(start + event("news", R"(,"x":1)") + block + end("end_turn") + stop).refuse == reason::none);
    CHECK(stream(whole + "data: [DONE]\n\n").refuse == reason::none);
    const std::string second_open =
        event("content_block_start", R"(,"index":1,"content_block":{"type":"tool_use","input":{}})");
    const std::string second_close = event("content_block_stop", R"(,"index":1)");
    CHECK(stream(start + begin_text + second_open + text + second_close + shut + end("tool_use") + stop).refuse ==
          reason::none);
}

TEST_CASE("objects: good, cut, followed by bytes, incomplete") {
    const std::string good =
        R"({"type":"message","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn",)"
        R"("usage":{"input_tokens":1,"output_tokens":2}})";
    CHECK(object_verdict(good) == reason::none);
    CHECK(object_verdict(good + "\n") == reason::none);
    CHECK(object_verdict(good, false) == reason::framing_incomplete);
    for (std::size_t cut = 0; cut < good.size(); ++cut) {
        CHECK(object_verdict(std::string_view(good).substr(0, cut)) == reason::answer_malformed);
    }
    CHECK(object_verdict(good + "x") == reason::answer_malformed);
    CHECK(object_verdict("[]") == reason::answer_malformed);
    CHECK(object_verdict("{}") == reason::no_choices);
    CHECK(object_verdict(R"({"type":"message","content":null,"stop_reason":"end_turn"})") == reason::no_choices);
    CHECK(object_verdict(R"({"type":"error","error":{"type":"api_error"}})") == reason::error_in_answer);
    CHECK(object_verdict(R"({"error":{"message":"x"}})") == reason::error_in_answer);
    CHECK(object_verdict(R"({"type":"message","content":[],"stop_reason":null})") == reason::choice_unfinished);
    CHECK(object_verdict(R"({"type":"message","content":[],"stop_reason":"end_turn"})") == reason::none);
    CHECK(object_verdict(R"({"type":"message","content":[],"stop_reason":"refusal"})") == reason::content_filtered);
    CHECK(object_verdict(R"({"type":"message","content":[7],"stop_reason":"end_turn"})") == reason::answer_malformed);
    CHECK(object_verdict(R"({"type":"message","content":[{}],"stop_reason":"end_turn"})") == reason::answer_malformed);
    CHECK(object_verdict(R"({"content":[],"stop_reason":"end_turn"})") == reason::answer_malformed);
    const verdict v = watch(anthropic_messages(), form::json, good);
    CHECK(v.tokens->output == 2);
    CHECK(v.model == "m");
}

TEST_CASE("counts") {
    const auto count = [](std::string_view body, bool framed = true) {
        return watch(anthropic_count_tokens(), form::json, body, framed).refuse;
    };
    CHECK(count(R"({"input_tokens":12})") == reason::none);
    CHECK(count(R"({"input_tokens":12})", false) == reason::framing_incomplete);
    CHECK(count(R"({"input_tokens":12}x)") == reason::answer_malformed);
    CHECK(count(R"({"input_tokens":"12"})") == reason::answer_malformed);
    CHECK(count(R"({"input_tokens":-1})") == reason::answer_malformed);
    CHECK(count("{}") == reason::no_choices);
    CHECK(count(R"({"type":"error","error":{}})") == reason::error_in_answer);
}
