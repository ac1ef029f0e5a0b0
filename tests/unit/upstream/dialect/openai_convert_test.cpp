// Streams into objects and back: nothing lost, or nothing converted.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/registry.hpp"
#include "upstream/dialect/sse.hpp"

using namespace idem;
using namespace idem::upstream::dialect;
namespace json = boost::json;

namespace {

const dialect& chat() {
    return openai_chat();
}
const dialect& completions() {
    return openai_completions();
}

std::string event(std::string_view data) {
    return "data: " + std::string(data) + "\n\n";
}

const std::string done = "data: [DONE]\n\n";
const std::string usage_event = event(R"({"id":"1","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}})");

std::string delta(std::string_view body, std::string_view finish = "null", unsigned index = 0) {
    return event(R"({"id":"1","object":"chat.completion.chunk","created":5,"model":"m","choices":[{"index":)" +
                 std::to_string(index) + R"(,"delta":)" + std::string(body) + R"(,"finish_reason":)" +
                 std::string(finish) + "}]}");
}

const std::string role = delta(R"({"role":"assistant","content":""})");
const std::string stop = delta("{}", "\"stop\"");
const std::string calls_end = delta("{}", "\"tool_calls\"");

json::value assembled(const std::string& stream) {
    const auto object = chat().assemble(stream);
    REQUIRE(object);
    return json::parse(*object);
}

json::value message_of(const std::string& deltas, const std::string& end = stop) {
    return assembled(deltas + end + usage_event + done).at("choices").at(0).at("message");
}

bool refused(const std::string& deltas) {
    return !chat().assemble(deltas + stop + usage_event + done);
}

std::string object_with(std::string_view message, std::string_view rest = R"("logprobs":null,"finish_reason":"stop")") {
    return R"({"id":"1","object":"chat.completion","created":5,"model":"m","choices":[{"index":0,"message":)" +
           std::string(message) + "," + std::string(rest) +
           R"(}],"usage":{"prompt_tokens":3},"system_fingerprint":null})";
}

// Whether the object comes back from its stream, and what the stream says of itself.
void check_round_trip(const dialect& d, const std::string& object) {
    CAPTURE(object);
    const auto stream = d.split(object, true);
    REQUIRE(stream);
    CAPTURE(*stream);
    const auto back = d.assemble(*stream);
    REQUIRE(back);
    CHECK(json::parse(*back) == json::parse(object));
    CHECK(d.normalised(form::sse, *stream) == d.normalised(form::json, object));
    call c;
    c.choices = static_cast<unsigned>(json::parse(object).at("choices").as_array().size());
    const auto w = d.watch(form::sse, c);
    w->feed(*stream);
    CHECK(w->usage_event());
    CHECK(w->boundary() == stream->size());
    const reason why = w->finish(true).refuse;
    CHECK((why == reason::none || why == reason::content_filtered));
}

void check_message(std::string_view message) {
    check_round_trip(chat(), object_with(message));
}

}  // namespace

TEST_CASE("a plain stream becomes the object, raw tokens kept") {
    const auto object = chat().assemble(
        event(
            R"({"id":"1","object":"chat.completion.chunk","created":5,"model":"m","usage":null,"choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}]})") +
        event(
            R"({"id":"1","object":"chat.completion.chunk","created":5,"model":"m","usage":null,"choices":[{"index":0,"delta":{"content":"h\u00e9\"l"},"logprobs":null,"finish_reason":null}]})") +
        event(
            R"({"id":"1","object":"chat.completion.chunk","created":6,"model":"m","usage":null,"choices":[{"index":0,"delta":{"content":"lo"},"logprobs":null,"finish_reason":"stop"}]})") +
        event(
            R"({"id":"1","object":"chat.completion.chunk","created":6,"model":"m","choices":[],"usage":{"prompt_tokens":1.50,"x":12345678901234567890}})") +
        done);
    CHECK(
        object ==
        R"({"id":"1","object":"chat.completion","created":5,"model":"m","usage":{"prompt_tokens":1.50,"x":12345678901234567890},)"
        R"("choices":[{"index":0,"message":{"role":"assistant","content":"h\u00e9\"llo","refusal":null},"logprobs":null,"finish_reason":"stop"}]})");
}

TEST_CASE("an object becomes a stream: golden") {
    const std::string object =
        R"({"id":"1","object":"chat.completion","created":5,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":3}})";
    const std::string head = R"(data: {"id":"1","object":"chat.completion.chunk","created":5,"model":"m","choices":[)";
    const std::string opening =
        R"({"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}])";
    const std::string text = R"({"index":0,"delta":{"content":"hi"},"logprobs":null,"finish_reason":null}])";
    const std::string end = R"({"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}])";
    CHECK(chat().split(object, false) ==
          head + opening + "}\n\n" + head + text + "}\n\n" + head + end + "}\n\n" + done);
    CHECK(chat().split(object, true) == head + opening + ",\"usage\":null}\n\n" + head + text + ",\"usage\":null}\n\n" +
                                            head + end + ",\"usage\":null}\n\n" + head +
                                            "],\"usage\":{\"prompt_tokens\":3}}\n\n" + done);
}

TEST_CASE("messages of every kind come back from their streams") {
    check_message(R"({"role":"assistant","content":"hi"})");
    check_message(R"({"role":"assistant","content":""})");
    check_message(R"({"role":"assistant","content":null})");
    check_message(R"({"role":"assistant","content":null,"refusal":"no"})");
    check_message(R"({"role":"assistant","content":"","refusal":"no"})");
    check_message(R"({"role":"assistant","content":"a\u0000\ud83d\ude00\n\r\u2028","refusal":null,"annotations":[]})");
    check_message(
        R"({"role":"assistant","content":"x","annotations":[{"type":"url_citation","url_citation":{"url":"u"}}]})");
    check_message(R"({"role":"assistant","reasoning_content":"because","content":"x"})");
    check_message(R"({"role":"assistant","reasoning":"because","content":""})");
    check_message(
        R"({"role":"assistant","reasoning":null,"content":null,"tool_calls":[],"function_call":null,"audio":null})");
    check_message(R"({"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"a\":1}"}})");
    check_message(R"({"role":"assistant","content":"","function_call":{"name":"f","arguments":""}})");
    check_message(
        R"({"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},)"
        R"({"id":"b","type":"custom","custom":{"name":"g","input":"text"}},)"
        R"({"id":"c","type":"function","function":{"name":"h","arguments":""},"extra_content":{"google":{"thought_signature":"s"}}}]})");
    check_message(
        R"({"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]})");
    check_message(
        R"({"role":"assistant","content":null,"audio":{"id":"au","data":"AAA=","transcript":"t","expires_at":9}})");
    check_message(
        R"({"role":"assistant","content":"x","provider_specific":{"a":[1,2.50]},"mood":"fine","n":1e2,"ok":true,"list":[1]})");
}

TEST_CASE("choices: several, with log probabilities and members of engines") {
    check_round_trip(
        chat(),
        object_with(
            R"({"role":"assistant","content":"ab"})",
            R"("logprobs":{"content":[{"token":"a","logprob":-0.10,"bytes":[97],"top_logprobs":[]},{"token":"b"}],"refusal":null},"finish_reason":"length","stop_reason":7,"token_ids":[1,2,3],"matched_stop":null)"));
    check_round_trip(chat(),
                     object_with(R"({"role":"assistant","content":null,"refusal":"no"})",
                                 R"("logprobs":{"content":null,"refusal":[{"token":"no"}]},"finish_reason":"stop")"));
    check_round_trip(chat(), object_with(R"({"role":"assistant","content":"x"})", R"("finish_reason":"stop")"));
    check_round_trip(
        chat(),
        R"({"id":"1","object":"chat.completion","created":5,"model":"m","service_tier":"default","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"},{"index":1,"message":{"role":"assistant","content":"b"},"finish_reason":"length"}],)"
        R"("usage":{},"timings":{"ms":1},"prompt_filter_results":[{"x":1}],"prompt_token_ids":[1,2],"prompt_logprobs":null})");
    check_round_trip(
        chat(),
        "{\n  \"object\": \"chat.completion\",\n  \"choices\": [\n    {\r\n \"index\": 0, \"message\": {\"role\": "
        "\"assistant\",\n \"content\": \"x\", \"more\": {\n\"a\":\n1}},\n \"finish_reason\": \"stop\"}\n],\n "
        "\"usage\": {\n\"prompt_tokens\":\n1}}\n");
}

TEST_CASE("objects that a stream cannot carry are refused") {
    const auto no = [](std::string_view object) { return !chat().split(object, true); };
    CHECK(no(""));
    CHECK(no("{"));
    CHECK(no("[]"));
    CHECK(no(object_with(R"({"role":"assistant"})")));
    CHECK(no(object_with(R"({"content":"x"})")));
    CHECK(no(object_with(R"({"role":"assistant","content":[{"type":"text"}]})")));
    CHECK(no(object_with(R"({"role":"assistant","content":"x"})", R"("finish_reason":null)")));
    CHECK(no(object_with(R"({"role":"assistant","content":"x","tool_calls":""})")));
    CHECK(no(object_with(R"({"role":"assistant","content":"x","audio":[]})")));
    CHECK(no(object_with(R"({"role":"assistant","content":"x","refusal":[]})")));
    CHECK(no(object_with(
        R"({"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]})")));
    CHECK(no(object_with(
        R"({"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":{}}}]})")));
    CHECK(no(R"({"object":"chat.completion","choices":[],"usage":{}})"));
    CHECK(no(
        R"({"object":"text_completion","choices":[{"index":0,"message":{"role":"a","content":"x"},"finish_reason":"stop"}],"usage":{}})"));
    const std::string bare =
        R"({"object":"chat.completion","choices":[{"index":0,"message":{"role":"a","content":"x"},"finish_reason":"stop"}]})";
    CHECK(no(bare));
    CHECK(chat().split(bare, false));
    CHECK(no(
        R"({"object":"chat.completion","choices":[{"index":1,"message":{"role":"a","content":"x"},"finish_reason":"stop"}],"usage":{}})"));
}

TEST_CASE("what a stream cannot carry is refused wherever it stands") {
    const std::vector<std::string> good = {
        R"("object":"chat.completion")",
        R"("choices":[{"index":0,"message":{"role":"a","content":"x"},"finish_reason":"stop"}])", R"("usage":{})"};
    for (const std::string bad :
         {R"("error":{})", R"("error":null)", R"("obfuscation":"ab")", R"("choices":[])", R"("usage":{})"}) {
        for (std::size_t at = 0; at <= good.size(); ++at) {
            std::vector<std::string> members = good;
            members.insert(members.begin() + static_cast<std::ptrdiff_t>(at), bad);
            std::string object;
            for (const std::string& member : members) object += (object.empty() ? "{" : ",") + member;
            for (const bool usage : {false, true}) {
                CAPTURE(object);
                CHECK_FALSE(chat().split(object + "}", usage));
            }
        }
    }
}

TEST_CASE("streams as servers write them") {
    SUBCASE("interleaved choices, late content, empty deltas, a role on every chunk") {
        const json::value v =
            assembled(delta(R"({"role":"assistant","content":"b"})", "null", 1) + role +
                      delta(R"({"role":"assistant","content":"a"})") + delta("{}") + delta("{}", "\"stop\"", 1) + stop +
                      delta(R"({"content":"!"})") + usage_event + done);
        CHECK(v.at("choices").at(0).at("message").at("content") == "a!");
        CHECK(v.at("choices").at(1).at("message").at("content") == "b");
    }
    SUBCASE("usage in every chunk: the last one counts") {
        const std::string counting =
            event(R"({"choices":[{"index":0,"delta":{"content":"x"}}],"usage":{"completion_tokens":1}})") +
            event(R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"completion_tokens":2}})");
        CHECK(assembled(counting + done).at("usage").at("completion_tokens") == 2);
    }
    SUBCASE("Azure's first chunk") {
        const json::value v = assembled(
            event(
                R"({"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0}]})") +
            role + event(R"({"id":"1","created":5,"choices":[{"index":0,"delta":{"content":"x"}}]})") +
            event(R"({"id":"1","created":6,"choices":[]})") + stop + usage_event + done);
        CHECK(v.at("id") == "1");
        CHECK(v.at("created") == 5);
        CHECK(v.at("model") == "m");
        CHECK(v.at("object") == "chat.completion");
        CHECK(v.at("prompt_filter_results").as_array().size() == 1);
    }
    SUBCASE("tool calls in pieces, and whole without index") {
        const json::value pieces = message_of(
            delta(
                R"({"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]})") +
                delta(R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}]})") +
                delta(
                    R"({"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]})") +
                delta(R"({"tool_calls":[{"index":0,"id":"","function":{"name":null,"arguments":":1}"}}]})"),
            calls_end);
        CHECK(pieces.at("content").is_null());
        CHECK(pieces.at("tool_calls").at(0).at("function").at("arguments") == R"({"x":1})");
        CHECK(pieces.at("tool_calls").at(0).at("id") == "a");
        CHECK(pieces.at("tool_calls").at(1).at("function").at("name") == "g");
        const json::value whole = message_of(
            delta(
                R"({"role":"assistant","content":"","tool_calls":[{"id":"a","function":{"name":"f","arguments":"1"}},{"id":"b","function":{"name":"g","arguments":"2"}}]})"),
            calls_end);
        CHECK(whole.at("tool_calls").as_array().size() == 2);
        CHECK(whole.at("content").is_null());
    }
    SUBCASE("no content at all") {
        CHECK(message_of(delta(R"({"role":"assistant"})")).at("content") == "");
        CHECK(message_of(delta(R"({"reasoning":"hm"})")).at("role") == "assistant");
        CHECK(message_of(role + delta(R"({"refusal":"no"})")).at("content").is_null());
    }
    SUBCASE("the last chunk of vLLM says content \"\" beside a tool call") {
        const json::value v = message_of(
            role +
                delta(
                    R"({"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]})"),
            delta(R"({"content":""})", "\"tool_calls\""));
        CHECK(v.at("content").is_null());
    }
    SUBCASE("log probabilities, token ids and reasoning continue; obfuscation is dropped") {
        const auto chunk = [](std::string_view text, std::string_view id, std::string_view finish) {
            return event(R"({"obfuscation":"zz","choices":[{"index":0,"delta":{"reasoning_content":"r","content":")" +
                         std::string(text) + R"("},"logprobs":{"content":[{"token":")" + std::string(text) +
                         R"("}],"refusal":null},"token_ids":[)" + std::string(id) + R"(],"finish_reason":)" +
                         std::string(finish) + "}]}");
        };
        const json::value v = assembled(chunk("a", "1", "null") + chunk("b", "2,3", "\"stop\"") + usage_event + done);
        const json::value& choice = v.at("choices").at(0);
        CHECK(choice.at("logprobs").at("content").as_array().size() == 2);
        CHECK(choice.at("token_ids") == json::value({1, 2, 3}));
        CHECK(choice.at("message").at("reasoning_content") == "rr");
        CHECK_FALSE(v.as_object().contains("obfuscation"));
    }
    SUBCASE("comments, ids, CRLF and two [DONE]") {
        std::string stream = ": OPENROUTER PROCESSING\n\nid: 7\n" + role + delta(R"({"content":"x"})") + stop +
                             usage_event + done + done;
        CHECK(assembled(stream).at("choices").at(0).at("message").at("content") == "x");
        std::string crlf;
        for (const char c : stream) {
            if (c == '\n') crlf += '\r';
            crlf += c;
        }
        CHECK(chat().assemble(crlf) == chat().assemble(stream));
    }
}

TEST_CASE("streams that cannot become an object without loss are refused") {
    CHECK_FALSE(chat().assemble(role + stop + done));         // no usage
    CHECK_FALSE(chat().assemble(role + stop + usage_event));  // no [DONE]
    CHECK_FALSE(chat().assemble(role + usage_event + done));  // unfinished
    CHECK_FALSE(chat().assemble(usage_event + done));         // no choice
    CHECK_FALSE(chat().assemble(""));
    CHECK_FALSE(chat().assemble(role + stop + usage_event + "data: {\n\n" + done));
    CHECK_FALSE(chat().assemble(role + stop + usage_event + event(R"({"error":{"message":"x"}})") + done));
    CHECK_FALSE(chat().assemble(role + stop + usage_event + done + stop));
    CHECK_FALSE(chat().assemble("event: other\n" + role + stop + usage_event + done));
    CHECK_FALSE(chat().assemble(delta("{}", "\"stop\"", 1) + usage_event + done));  // choice 0 never came
    CHECK(refused(role + event(R"({"id":"2","choices":[]})")));
    CHECK(refused(role + event(R"({"system_fingerprint":"a","choices":[]})") +
                  event(R"({"system_fingerprint":"b","choices":[]})")));
    CHECK(refused(role + delta(R"({"reasoning_details":[{"text":"a"}]})") +
                  delta(R"({"reasoning_details":[{"text":"b"}]})")));
    CHECK(refused(role + delta(R"({"reasoning_details":[{"text":"a"}]})") +
                  delta(R"({"reasoning_details":[{"text":"a"}]})")));
    CHECK(refused(role + delta(R"({"tool_calls":[{"function":{"arguments":"x"}}]})")));
    CHECK(refused(role + delta(R"({"tool_calls":[{"index":0,"id":"a"}]})") +
                  delta(R"({"tool_calls":[{"index":0,"id":"b"}]})")));
    CHECK(refused(role + delta(R"({"tool_calls":[{"index":3,"id":"a"}]})")));
    CHECK(refused(role + delta(R"({"audio":{"data":"AA=="}})") + delta(R"({"audio":{"data":"AAAA"}})")));
    CHECK(refused(role + delta(R"({"content":["x"]})")));
    CHECK(refused(role + delta("{}", "\"length\"")));
    CHECK(refused(role + event(R"({"choices":[{"index":0,"delta":{},"content_filter_results":{"a":1}}]})") +
                  event(R"({"choices":[{"index":0,"delta":{},"content_filter_results":{"a":2}}]})")));
}

TEST_CASE("completions convert both ways") {
    const auto object = [](std::string_view rest) {
        return R"({"id":"1","object":"text_completion","created":5,"model":"m","choices":[{"text":"a b","index":0,)" +
               std::string(rest) +
               R"("finish_reason":"length"},{"text":"","index":1,"logprobs":null,"finish_reason":"stop"}],"usage":{"total_tokens":3}})";
    };
    check_round_trip(completions(), object(R"("logprobs":null,)"));
    check_round_trip(completions(), object(R"("stop_reason":null,"prompt_token_ids":[1],"token_ids":[2],)"));
    check_round_trip(
        completions(),
        object(
            R"("logprobs":{"tokens":["a"," b"],"token_logprobs":[null,-0.5],"top_logprobs":[null,{"a":-1.0}],"text_offset":[0,1]},)"));
    const std::string stream =
        event(
            R"({"id":"1","object":"text_completion","choices":[{"index":0,"text":"a","logprobs":{"tokens":["a"],"text_offset":[0]},"finish_reason":null}]})") +
        event(
            R"({"id":"1","object":"text_completion","choices":[{"index":0,"text":"b","logprobs":{"tokens":["b"],"text_offset":[1]},"finish_reason":"stop"}],"usage":null})") +
        event(R"({"id":"1","object":"text_completion","choices":[],"usage":{"total_tokens":3}})") + done;
    const auto assembled_text = completions().assemble(stream);
    REQUIRE(assembled_text);
    const json::value v = json::parse(*assembled_text);
    CHECK(v.at("choices").at(0).at("text") == "ab");
    CHECK(v.at("choices").at(0).at("logprobs").at("text_offset") == json::value({0, 1}));
    CHECK_FALSE(completions().split(
        R"({"object":"text_completion","choices":[{"index":0,"text":1,"finish_reason":"x"}],"usage":{}})", true));
    CHECK_FALSE(completions().split(
        R"({"object":"text_completion","choices":[{"index":0,"text":"","logprobs":[],"finish_reason":"x"}],"usage":{}})",
        true));
    CHECK_FALSE(completions().assemble(event(R"({"choices":[{"index":0,"finish_reason":"stop"}],"usage":{}})") + done));
}

TEST_CASE("normalised output: equal words, whatever their dress") {
    const auto of = [](std::string_view message) { return chat().normalised(form::json, object_with(message)); };
    const auto words = of(R"({"role":"assistant","content":"é"})");
    CHECK(words == R"({"choices":[{"index":0,"finish_reason":"stop","role":"assistant","content":"é"}]})");
    CHECK(words ==
          of(R"({"content":"\u00e9","role":"assistant","refusal":null,"tool_calls":[],"annotations":[{"x":1}]})"));
    CHECK(of(R"({"role":"assistant","content":null})") == of(R"({"role":"assistant","content":""})"));
    CHECK(of(R"({"role":"assistant","content":"e"})") != words);
    CHECK(of(R"({"role":"assistant","content":"","reasoning":"r"})") ==
          of(R"({"role":"assistant","content":"","reasoning_content":"r"})"));
    CHECK(
        of(R"({"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]})") ==
        of(R"({"role":"assistant","content":null,"tool_calls":[{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]})"));
    CHECK(
        of(R"({"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{ }"}}]})") !=
        of(R"({"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]})"));
    CHECK(
        chat().normalised(
            form::json,
            R"({"id":"2","usage":{},"choices":[{"index":1,"finish_reason":"stop","message":{}},{"index":0,"finish_reason":"length","stop_reason":5,"message":{},"token_ids":[1]}]})") ==
        R"({"choices":[{"index":0,"finish_reason":"length","stop_reason":5,"token_ids":[1]},{"index":1,"finish_reason":"stop"}]})");
    CHECK(chat().normalised(form::sse, role + delta(R"({"content":"\u00e9"})") + stop + done) ==
          words);  // without usage
    CHECK_FALSE(chat().normalised(form::json, "{"));
    CHECK_FALSE(chat().normalised(form::json, "{}"));
    CHECK_FALSE(chat().normalised(form::sse, role));
}

TEST_CASE("normalised embeddings agree in both encodings") {
    const auto of = [](std::string_view body) { return openai_embeddings().normalised(form::json, body); };
    const auto floats = of(R"({"data":[{"index":0,"embedding":[1,-0.5,0.1]}],"usage":{}})");
    CHECK(floats == R"({"data":[{"index":0,"embedding":"3f800000bf0000003dcccccd"}]})");
    CHECK(floats == of(R"({"data":[{"object":"embedding","embedding":"AACAPwAAAL/NzMw9","index":0}]})"));
    CHECK(of(R"({"data":[{"index":0,"embedding":"not base64"}]})") ==
          R"({"data":[{"index":0,"embedding":"not base64"}]})");
    CHECK_FALSE(openai_embeddings().assemble("{}"));
    CHECK_FALSE(openai_embeddings().split("{}", false));
}

namespace {

using rc::gen::arbitrary;

json::string any_text(std::string out = {}) {
    const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(std::vector<std::string>{
        "a", " ", "\"", "\\", "\n", "\r\n", "é", "東", "🙂", "data: [DONE]", "\x01", "}", "null", "="}));
    for (const std::string& piece : pieces) out += piece;
    return json::string(out);
}

bool coin() {
    return *rc::gen::inRange(0, 2) == 1;
}

json::value any_value() {
    switch (*rc::gen::inRange(0, 6)) {
        case 0:
            return nullptr;
        case 1:
            return any_text();
        case 2:
            return *arbitrary<int>();
        case 3:
            return json::array{any_text(), *arbitrary<int>()};
        case 4:
            return json::object{{"k", any_text()}};
        default:
            return coin();
    }
}

json::value any_call() {
    json::object nested{{"name", any_text()}};
    const bool custom = coin();
    nested[custom ? "input" : "arguments"] = any_text();
    json::object call{{"id", any_text("id")}, {"type", custom ? "custom" : "function"}};
    call[custom ? "custom" : "function"] = std::move(nested);
    if (coin()) call["extra"] = any_value();
    return call;
}

json::value any_message() {
    json::object m{{"role", "assistant"}};
    m["content"] = coin() ? json::value(any_text()) : json::value(nullptr);
    if (coin()) m["refusal"] = coin() ? json::value(any_text()) : json::value(nullptr);
    if (coin()) m["reasoning_content"] = any_text();
    if (coin()) m["reasoning"] = coin() ? json::value(any_text()) : json::value(nullptr);
    if (coin()) m["annotations"] = coin() ? json::array{any_value()} : json::array{};
    if (coin()) {
        json::array calls;
        for (int i = *rc::gen::inRange(0, 4); i > 0; --i) calls.push_back(any_call());
        m["tool_calls"] = calls;
    }
    if (coin()) m["function_call"] = json::object{{"name", any_text()}, {"arguments", any_text()}};
    if (coin())
        m["audio"] = json::object{{"id", "x"}, {"data", any_text()}, {"transcript", any_text()}, {"expires_at", 7}};
    if (coin()) m["unknown"] = any_value();
    return m;
}

json::value any_object() {
    json::object o{
        {"id", any_text()}, {"object", "chat.completion"}, {"created", *arbitrary<int>()}, {"model", any_text()}};
    json::array choices;
    const int n = *rc::gen::inRange(1, 4);
    for (int i = 0; i < n; ++i) {
        json::object c{{"index", i}, {"message", any_message()}, {"finish_reason", coin() ? "stop" : "length"}};
        if (coin()) {
            c["logprobs"] = coin() ? json::value(nullptr)
                                   : json::value{{"content", json::array{any_value()}}, {"refusal", nullptr}};
        }
        if (coin()) c["stop_reason"] = any_value();
        if (coin()) c["token_ids"] = json::array{1, 2};
        choices.push_back(c);
    }
    o["choices"] = choices;
    o["usage"] = json::object{{"prompt_tokens", *arbitrary<unsigned>()}, {"details", any_value()}};
    if (coin()) o["system_fingerprint"] = coin() ? json::value(any_text()) : json::value(nullptr);
    if (coin()) o["extra"] = any_value();
    return o;
}

}  // namespace

TEST_CASE("property: every object comes back from its stream") {
    CHECK(rc::check([] {
        const json::value object = any_object();
        const std::string text = json::serialize(object);
        const auto stream = chat().split(text, true);
        RC_ASSERT(stream.has_value());
        const auto back = chat().assemble(*stream);
        RC_ASSERT(back.has_value());
        RC_ASSERT(json::parse(*back) == object);
        RC_ASSERT(chat().normalised(form::sse, *stream) == chat().normalised(form::json, text));
    }));
}
