// Anthropic streams into messages and back: nothing lost, or nothing converted.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <boost/json.hpp>
#include <string>

#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/registry.hpp"

using namespace idem;
using namespace idem::upstream::dialect;
namespace json = boost::json;

namespace {

const dialect& messages() {
    return anthropic_messages();
}

std::string event(std::string_view type, std::string_view rest = "") {
    return "event: " + std::string(type) + "\ndata: {\"type\":\"" + std::string(type) + "\"" + std::string(rest) +
           "}\n\n";
}

const std::string start = event(
    "message_start",
    R"(,"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}})");
const std::string end =
    event("message_delta", R"(,"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":7})") +
    event("message_stop");

std::string begin_block(std::string_view block, unsigned index = 0) {
    return event("content_block_start",
                 ",\"index\":" + std::to_string(index) + ",\"content_block\":" + std::string(block));
}
std::string delta(std::string_view body, unsigned index = 0) {
    return event("content_block_delta", ",\"index\":" + std::to_string(index) + ",\"delta\":" + std::string(body));
}
std::string end_block(unsigned index = 0) {
    return event("content_block_stop", ",\"index\":" + std::to_string(index));
}

std::string input(std::string_view piece, unsigned index = 0) {
    return delta(R"({"type":"input_json_delta","partial_json":")" + std::string(piece) + "\"}", index);
}

const std::string text_block = begin_block(R"({"type":"text","text":""})") +
                               delta(R"({"type":"text_delta","text":"h\u00e9\"l"})") +
                               delta(R"({"type":"text_delta","text":"lo"})") + end_block();

json::value content_of(const std::string& blocks) {
    const auto object = messages().assemble(start + blocks + end);
    REQUIRE(object);
    return json::parse(*object).at("content");
}

bool refused(const std::string& blocks) {
    return !messages().assemble(start + blocks + end);
}

std::string object_with(std::string_view content, std::string_view rest = R"(,"stop_sequence":null)") {
    return R"({"id":"msg_1","type":"message","role":"assistant","model":"m","content":)" + std::string(content) +
           R"(,"stop_reason":"end_turn")" + std::string(rest) +
           R"(,"usage":{"input_tokens":3,"cache_creation":{"a":1},"output_tokens":2,"service_tier":"standard"}})";
}

void check_round_trip(const std::string& object) {
    CAPTURE(object);
    const auto stream = messages().split(object, true);
    REQUIRE(stream);
    CAPTURE(*stream);
    const auto back = messages().assemble(*stream);
    REQUIRE(back);
    CHECK(json::parse(*back) == json::parse(object));
    CHECK(messages().normalised(form::sse, *stream) == messages().normalised(form::json, object));
    const auto again = messages().split(*back, false);
    REQUIRE(again);
    CHECK(messages().assemble(*again) == back);
    const auto w = messages().watch(form::sse, call{});
    w->feed(*stream);
    CHECK(w->boundary() == stream->size());
    CHECK(w->finish(true).refuse == reason::none);
}

void check_block(std::string_view block) {
    check_round_trip(object_with("[" + std::string(block) + "]"));
}

}  // namespace

TEST_CASE("a plain stream becomes the message, raw tokens kept") {
    CHECK(
        messages().assemble(start + event("ping") + text_block + end) ==
        R"({"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"h\u00e9\"llo"}],)"
        R"("stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":7}})");
}

TEST_CASE("a message becomes a stream: golden") {
    const std::string object =
        R"({"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"},)"
        R"({"type":"tool_use","id":"t","name":"f","input":{"b":1.0,"a":"x"}}],)"
        R"("stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":2}})";
    CHECK(
        messages().split(object, false) ==
        event(
            "message_start",
            R"(,"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":0}})") +
            begin_block(R"({"type":"text","text":""})") + delta(R"({"type":"text_delta","text":"hi"})") + end_block() +
            begin_block(R"({"type":"tool_use","id":"t","name":"f","input":{}})", 1) + input("", 1) +
            input(R"({\"b\":1.0,\"a\":\"x\"})", 1) + end_block(1) +
            event(
                "message_delta",
                R"(,"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":3,"output_tokens":2})") +
            event("message_stop"));
}

TEST_CASE("blocks of every kind come back from their streams") {
    check_round_trip(object_with("[]"));
    check_block(R"({"type":"text","text":""})");
    check_block(R"({"type":"text","text":"a\u0000\ud83d\ude00\n\r\u2028","citations":null})");
    check_block(R"({"type":"text","text":"x","citations":[]})");
    check_block(
        R"({"citations":[{"type":"char_location","cited_text":"a"},{"type":"page_location"}],"type":"text","text":"x"})");
    check_block(R"({"type":"thinking","thinking":"hm","signature":"c2ln"})");
    check_block(R"({"type":"thinking","thinking":"","signature":""})");
    check_block(R"({"type":"thinking","thinking":"hm"})");
    check_block(R"({"type":"redacted_thinking","data":"abc"})");
    check_block(R"({"type":"tool_use","id":"t","name":"f","input":{}})");
    check_block(
        R"({"type":"tool_use","id":"t","name":"f","input":{"a":[1.50,12345678901234567890]},"caller":{"type":"direct"}})");
    check_block(R"({"type":"server_tool_use","id":"t","name":"web_search","input":{"query":"x"}})");
    check_block(R"({"type":"web_search_tool_result","tool_use_id":"t","content":[{"type":"web_search_result"}]})");
    check_block(R"({"type":"compaction","content":"short","encrypted_content":"x"})");
    check_block(R"({"type":"something_new","text":"whole","input":[1]})");
    check_round_trip(object_with(
        R"([{"type":"thinking","thinking":"a","signature":"s"},{"type":"text","text":"b"},{"type":"tool_use","id":"t","name":"f","input":{"x":null}}])"));
}

TEST_CASE("what else a message says comes back") {
    check_round_trip(object_with("[]", R"(,"stop_sequence":"END")"));
    check_round_trip(object_with("[]", ""));
    check_round_trip(object_with("[]", R"(,"stop_sequence":null,"stop_details":null,"container":null)"));
    check_round_trip(object_with("[]", R"(,"stop_details":{"type":"refusal"},"container":{"id":"c"})"));
    check_round_trip(object_with("[]", R"(,"context_management":{"applied_edits":[]},"diagnostics":null,"new":1.0)"));
    check_round_trip(
        "\n{ \"type\": \"message\",\r\n \"content\": [ {\n\"type\":\n\"tool_use\", \"input\": { \"a\" :\n1 }}"
        " ],\n \"stop_reason\": \"tool_use\", \"usage\": {\n\"output_tokens\":\n1}}\n");
}

TEST_CASE("messages that a stream cannot carry are refused") {
    const auto no = [](std::string_view object) { return !messages().split(object, false); };
    const auto no_block = [&](std::string_view block) { return no(object_with("[" + std::string(block) + "]")); };
    CHECK(no(""));
    CHECK(no("{"));
    CHECK(no("[]"));
    CHECK(no(R"({"type":"error","error":{}})"));
    CHECK(no(object_with("[]", R"(,"error":null)")));
    CHECK(no(object_with("[]", R"(,"model":"other")")));
    CHECK(no(object_with("null")));
    CHECK(no(R"({"type":"message","content":[],"stop_reason":null,"usage":{"output_tokens":1}})"));
    CHECK(no(R"({"type":"message","content":[],"stop_reason":"end_turn"})"));
    CHECK(no(R"({"type":"message","content":[],"stop_reason":"end_turn","usage":{}})"));
    CHECK(no(
        R"({"type":"message","content":[],"stop_reason":"end_turn","usage":{"output_tokens":1,"output_tokens":2}})"));
    CHECK(no(R"({"content":[],"stop_reason":"end_turn","usage":{"output_tokens":1}})"));
    CHECK(no_block("7"));
    CHECK(no_block("{}"));
    CHECK(no_block(R"({"type":"text","text":null})"));
    CHECK(no_block(R"({"type":"text","text":"a","text":"b"})"));
    CHECK(no_block(R"({"type":"text","text":"a","t\u0065xt":"b"})"));
    CHECK(no_block(R"({"type":"text","text":"a","citations":"b"})"));
    CHECK(no_block(R"({"type":"thinking","thinking":"a","signature":7})"));
    CHECK(no_block(R"({"type":"tool_use","input":[]})"));
    CHECK(no_block(R"({"type":"tool_use","input":"{}"})"));
    CHECK(no_block(R"({"type":"fallback","from":{"model":"a"},"to":{"model":"b"}})"));
}

TEST_CASE("streams as servers write them") {
    SUBCASE("tool input in pieces, key order and number lexemes kept") {
        const std::string blocks = begin_block(R"({"type":"tool_use","id":"t","name":"f","input":{}})") + input("") +
                                   input(R"({\"b\": 1.)") + input(R"(50, \"a\": \"\\u00e9\")") + input("}") +
                                   end_block();
        const auto object = messages().assemble(start + blocks + end);
        REQUIRE(object);
        CHECK(object->find(R"("input":{"b": 1.50, "a": "\u00e9"})") != std::string::npos);
    }
    SUBCASE("a tool without input, and one that comes whole") {
        CHECK(content_of(begin_block(R"({"type":"tool_use","input":{}})") + input("") + end_block())
                  .at(0)
                  .at("input")
                  .as_object()
                  .empty());
        CHECK(
            content_of(begin_block(R"({"type":"tool_use","input":{"a":1}})") + end_block()).at(0).at("input").at("a") ==
            1);
    }
    SUBCASE("interleaved blocks") {
        const json::value v =
            content_of(begin_block(R"({"type":"text","text":"a"})") + begin_block(R"({"type":"text","text":""})", 1) +
                       delta(R"({"type":"text_delta","text":"x"})", 1) + delta(R"({"type":"text_delta","text":"b"})") +
                       end_block(1) + end_block());
        CHECK(v.at(0).at("text") == "ab");
        CHECK(v.at(1).at("text") == "x");
    }
    SUBCASE("citations, signature, compaction") {
        const json::value v = content_of(
            begin_block(R"({"type":"text","text":"","citations":[]})") +
            delta(R"({"type":"citations_delta","citation":{"n":1}})") + delta(R"({"type":"text_delta","text":"x"})") +
            delta(R"({"type":"citations_delta","citation":{"n":2}})") + end_block() +
            begin_block(R"({"type":"thinking","thinking":"","signature":""})", 1) +
            delta(R"({"type":"thinking_delta","thinking":"hm"})", 1) +
            delta(R"({"type":"signature_delta","signature":"s"})", 1) + end_block(1) +
            begin_block(R"({"type":"compaction","content":null})", 2) +
            delta(R"({"type":"compaction_delta","content":"c","encrypted_content":"e"})", 2) + end_block(2));
        CHECK(v.at(0).at("citations").as_array().size() == 2);
        CHECK(v.at(1) == json::parse(R"({"type":"thinking","thinking":"hm","signature":"s"})"));
        CHECK(v.at(2) == json::parse(R"({"type":"compaction","content":"c","encrypted_content":"e"})"));
    }
    SUBCASE("usage is a total: the last word counts, and null says nothing") {
        const auto object = messages().assemble(
            start + text_block +
            event(
                "message_delta",
                R"(,"delta":{"stop_reason":"end_turn","container":null},"usage":{"input_tokens":5,"cache_read_input_tokens":null,"output_tokens":7,"server_tool_use":{"n":1}},"context_management":{"applied_edits":[]})") +
            event("message_stop"));
        REQUIRE(object);
        const json::value v = json::parse(*object);
        CHECK(v.at("usage").at("input_tokens") == 5);
        CHECK(v.at("usage").at("server_tool_use").at("n") == 1);
        CHECK(v.at("context_management").at("applied_edits").as_array().empty());
        CHECK_FALSE(v.as_object().contains("container"));
    }
    SUBCASE("the [DONE] of vLLM") {
        CHECK(messages().assemble(start + text_block + end + "data: [DONE]\n\n"));
    }
}

TEST_CASE("streams that are broken, or of which something would be lost, are refused") {
    CHECK(refused(begin_block(R"({"type":"text","text":""})")));
    CHECK(refused(end_block()));
    CHECK(refused(text_block + text_block));
    CHECK(refused(text_block + delta(R"({"type":"text_delta","text":"late"})")));
    CHECK(refused(text_block + event("error", R"(,"error":{"type":"overloaded_error"})")));
    CHECK(refused(text_block + event("news")));
    CHECK(refused(begin_block(R"({"type":"text","text":""})") + delta(R"({"type":"new_delta","x":1})") + end_block()));
    CHECK(refused(begin_block(R"({"type":"text","text":""})") + delta(R"({"type":"text_delta","text":"a","x":1})") +
                  end_block()));
    CHECK(refused(begin_block(R"({"type":"text","text":""})") + input("{}") + end_block()));
    CHECK(refused(begin_block(R"({"type":"tool_use","input":{}})") + input(R"({\"a\":)") + end_block()));
    CHECK(refused(begin_block(R"({"type":"tool_use","input":{"b":1}})") + input(R"({\"a\":1})") + end_block()));
    CHECK(refused(begin_block(R"({"type":"thinking","thinking":"","signature":""})") +
                  delta(R"({"type":"signature_delta","signature":"a"})") +
                  delta(R"({"type":"signature_delta","signature":"b"})") + end_block()));
    CHECK(refused(begin_block(R"({"type":"fallback"})") + end_block()));
    CHECK(refused(start));
    CHECK_FALSE(messages().assemble(start + text_block));
    CHECK_FALSE(messages().assemble(start + text_block + end + end));
    CHECK_FALSE(messages().assemble(start + text_block + event("message_stop")));
    CHECK_FALSE(messages().assemble(start + text_block + end + "data: x"));
    CHECK_FALSE(messages().assemble(text_block + end));
    CHECK_FALSE(messages().assemble(""));
}

TEST_CASE("a tool call that met its limit still has words to compare") {
    const std::string cut =
        start + begin_block(R"({"type":"tool_use","name":"f","input":{}})") + input(R"({\"a\":)") + end_block() + end;
    CHECK(
        messages().normalised(form::sse, cut) ==
        R"({"role":"assistant","stop_reason":"end_turn","content":[{"type":"tool_use","name":"f","input":"{\"a\":"}]})");
}

TEST_CASE("normalised output: the words, not the ids, signatures or usage") {
    const auto words = [](std::string_view object) { return messages().normalised(form::json, object); };
    CHECK(
        words(object_with(
            R"([{"type":"thinking","signature":"s","thinking":"hm"},{"citations":null,"text":"x","type":"text"},{"type":"tool_use","id":"t","name":"f","input":{"b":1,"a":2}},{"type":"redacted_thinking","data":"d"}])")) ==
        R"({"role":"assistant","stop_reason":"end_turn","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"x"},{"type":"tool_use","name":"f","input":{"b":1,"a":2}},{"type":"redacted_thinking"}]})");
    CHECK(words(object_with("[]")) == R"({"role":"assistant","stop_reason":"end_turn","content":[]})");
    CHECK_FALSE(words("{"));
    CHECK_FALSE(words("{}"));
    CHECK_FALSE(words(object_with("[1]")));
    CHECK_FALSE(messages().normalised(form::sse, start));
    CHECK(anthropic_count_tokens().normalised(form::json, R"({"input_tokens": 12, "x":1})") ==
          R"({"input_tokens":12})");
    CHECK_FALSE(anthropic_count_tokens().normalised(form::json, "x"));
    CHECK_FALSE(anthropic_count_tokens().assemble(start + end));
    CHECK_FALSE(anthropic_count_tokens().split(R"({"input_tokens":12})", true));
}

namespace {

template <class T>
auto arbitrary() {
    return rc::gen::arbitrary<T>();
}

bool coin() {
    return *rc::gen::inRange(0, 2) == 1;
}

json::string any_text() {
    static constexpr std::string_view pieces[] = {"a",  "\"", "\\", "\n", "é",      "漢",
                                                  "🙂", " ",  "\t", "{",  "data: ", "\r"};
    json::string out;
    for (int n = *rc::gen::inRange(0, 6); n > 0; --n)
        out.append(pieces[*rc::gen::inRange<std::size_t>(0, std::size(pieces))]);
    return out;
}

json::value any_value(int depth = 2) {
    switch (*rc::gen::inRange(0, depth > 0 ? 7 : 4)) {
        case 0:
            return nullptr;
        case 1:
            return any_text();
        case 2:
            return *arbitrary<int>();
        case 3:
            return coin();
        case 4:
            return json::array{any_value(depth - 1), any_value(depth - 1)};
        default:
            return json::object{{"k", any_value(depth - 1)}, {"type", any_text()}};
    }
}

json::object any_input() {
    json::object out;
    if (coin()) out["text"] = any_value();
    if (coin()) out["z\"é"] = any_value();
    if (coin()) out["a"] = any_value();
    return out;
}

json::value any_block() {
    switch (*rc::gen::inRange(0, 5)) {
        case 0: {
            json::object b{{"type", "text"}, {"text", any_text()}};
            if (coin())
                b["citations"] = coin() ? json::value(nullptr) : json::array{json::object{{"cited_text", any_text()}}};
            return b;
        }
        case 1: {
            json::object b{{"type", "thinking"}, {"thinking", any_text()}};
            if (coin()) b["signature"] = any_text();
            return b;
        }
        case 2:
            return json::object{{"type", "redacted_thinking"}, {"data", any_text()}};
        case 3:
            return json::object{{"type", coin() ? "tool_use" : "server_tool_use"},
                                {"id", any_text()},
                                {"name", any_text()},
                                {"input", any_input()}};
        default:
            return json::object{{"type", "unknown_result"}, {"content", any_value()}, {"text", any_value()}};
    }
}

json::value any_message() {
    json::object o{{"id", any_text()}, {"type", "message"}, {"role", "assistant"}, {"model", any_text()}};
    json::array content;
    for (int n = *rc::gen::inRange(0, 4); n > 0; --n) content.push_back(any_block());
    o["content"] = content;
    o["stop_reason"] = coin() ? "end_turn" : "tool_use";
    if (coin()) o["stop_sequence"] = coin() ? json::value(any_text()) : json::value(nullptr);
    if (coin()) o["stop_details"] = any_value();
    if (coin()) o["extra"] = any_value();
    json::object usage{{"input_tokens", *arbitrary<unsigned>()}, {"output_tokens", *arbitrary<unsigned>()}};
    if (coin()) usage["server_tool_use"] = any_value();
    o["usage"] = usage;
    return o;
}

// A stream in which every text comes in pieces of `size` bytes of its token, cut between escapes only.
std::string in_pieces(const std::string& stream) {
    std::string out;
    std::string_view rest = stream;
    while (!rest.empty()) {
        const std::size_t end_of_event = rest.find("\n\n") + 2;
        const std::string_view whole = rest.substr(0, end_of_event);
        rest.remove_prefix(end_of_event);
        const std::string_view data = whole.substr(whole.find('{'));
        const std::string_view part = find_member(data, "delta");
        json_members members(part);
        std::string_view text;
        while (members.next()) {
            if (members.key() != "type" && members.key() != "signature" &&
                kind_of(members.value()) == json_kind::string)
                text = string_inner(members.value());
        }
        const std::size_t half = text.size() / 2;
        const bool cuttable = whole.starts_with("event: content_block_delta") && text.find('\\') == text.npos &&
                              half > 0 && (static_cast<unsigned char>(text[half]) & 0xC0U) != 0x80U;
        if (!cuttable) {
            out += whole;
            continue;
        }
        const auto at = static_cast<std::size_t>(text.data() - whole.data());
        out.append(whole.substr(0, at + half)).append("\"}}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n");
        out.append(whole.substr(0, at)).append(whole.substr(at + half));
    }
    return out;
}

}  // namespace

TEST_CASE("property: every message comes back from its stream, however that is cut") {
    CHECK(rc::check([] {
        const json::value object = any_message();
        const std::string text = json::serialize(object);
        const auto stream = messages().split(text, false);
        RC_ASSERT(stream.has_value());
        for (const std::string& each : {*stream, in_pieces(*stream)}) {
            const auto back = messages().assemble(each);
            RC_ASSERT(back.has_value());
            RC_ASSERT(json::parse(*back) == object);
            RC_ASSERT(messages().normalised(form::sse, each) == messages().normalised(form::json, text));
            RC_ASSERT(messages().split(*back, false) == stream);
        }
    }));
}
