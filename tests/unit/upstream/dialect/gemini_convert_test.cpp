// Gemini answers from stream to object and back: nothing lost, or nothing converted.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <boost/json.hpp>
#include <string>

#include "tests/unit/upstream/dialect/any_json.hpp"
#include "upstream/dialect/registry.hpp"

using namespace idem;
using namespace idem::upstream::dialect;
using namespace idem::upstream::dialect::testing;
namespace json = boost::json;

namespace {

json::value parse(std::string_view text) {
    return json::parse(json::string_view(text.data(), text.size()));
}

std::string event(std::string_view data) {
    return "data: " + std::string(data) + "\r\n\r\n";
}

std::string event_of(std::string_view parts, std::string_view more = "", std::string_view beside = "") {
    return event(R"({"candidates":[{"content":{"parts":)" + std::string(parts) + R"(,"role":"model"})" +
                 std::string(more) + R"(,"index":0}])" + std::string(beside) + "}");
}

std::optional<std::string> assemble(std::string_view stream) {
    return gemini_generate().assemble(stream);
}

json::value parts_of(std::string_view stream) {
    const auto object = assemble(stream);
    REQUIRE(object);
    return parse(*object).at("candidates").at(0).at("content").at("parts");
}

}  // namespace

TEST_CASE("the events of an answer become one: texts go on, usage and ratings are the last") {
    const std::string usage = R"(,"usageMetadata":{"promptTokenCount":3,"totalTokenCount":)";
    const std::string known = R"(,"modelVersion":"m","responseId":"r")";
    const auto object = assemble(
        event_of(R"([{"text":"h\u00e9"}])", R"(,"safetyRatings":[1])", usage + "4}" + known) +
        event_of(R"([{"text":"llo"}])", R"(,"safetyRatings":[2],"finishReason":"STOP")", usage + "9}" + known));
    REQUIRE(object);
    CHECK(
        *object ==
        R"({"candidates":[{"content":{"parts":[{"text":"h\u00e9llo"}],"role":"model"},"safetyRatings":[2],"index":0,"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"totalTokenCount":9},"modelVersion":"m","responseId":"r"})");
}

TEST_CASE("only texts of one kind go on, and only where events meet") {
    CHECK(parts_of(event_of(R"([{"text":"a","thought":true}])") + event_of(R"([{"thought":true,"text":"b"}])") +
                   event_of(R"([{"text":"c"}])") + event_of(R"([{"text":"d","thought":false}])")) ==
          parse(R"([{"text":"ab","thought":true},{"text":"cd"}])"));
    CHECK(parts_of(event_of(R"([{"text":"a"},{"text":"b"}])") + event_of(R"([{"text":"c"},{"text":"d"}])")) ==
          parse(R"([{"text":"a"},{"text":"bc"},{"text":"d"}])"));
    CHECK(parts_of(event_of(R"([{"text":"a"}])") + event_of(R"([{"text":"","thoughtSignature":"s"}])") +
                   event_of(R"([{"text":"b"}])")) ==
          parse(R"([{"text":"a"},{"text":"","thoughtSignature":"s"},{"text":"b"}])"));
    CHECK(parts_of(event_of(R"([{"functionCall":{"name":"f","args":{"b":1,"a":2.50}}}])") +
                   event_of(R"([{"functionCall":{"name":"f","args":{}}}])")) ==
          parse(R"([{"functionCall":{"name":"f","args":{"b":1,"a":2.50}}},{"functionCall":{"name":"f","args":{}}}])"));
}

TEST_CASE("candidates are told apart by their index, whenever they come") {
    const auto of = [](unsigned index, const char* text) {
        return R"({"index":)" + std::to_string(index) + R"(,"content":{"parts":[{"text":")" + text + R"("}]}})";
    };
    const auto object =
        assemble(event("{\"candidates\":[" + of(1, "x") + "," + of(0, "a") + "]}") +
                 event("{\"candidates\":[" + of(0, "b") + "]}") + event("{\"candidates\":[" + of(1, "y") + "]}"));
    REQUIRE(object);
    CHECK(
        *object ==
        R"({"candidates":[{"index":0,"content":{"parts":[{"text":"ab"}]}},{"index":1,"content":{"parts":[{"text":"xy"}]}}]})");
}

TEST_CASE("a stream of one event is that event, and a split object comes back byte for byte") {
    const std::string odd =
        R"({"candidates":[ {"content":{"parts":[{"text":"a"},{"text":"b"}]},"n":1.0e0}],"x":[1,{}]})";
    CHECK(assemble(event(odd)) == odd);
    const auto stream = gemini_generate().split(odd, false);
    REQUIRE(stream);
    CHECK(assemble(*stream) == odd);
    const auto lines = gemini_generate().split("\n{\r\n\"candidates\": [\n]}\n", true);
    CHECK(lines == "data: {  \"candidates\": [ ]}\n\n");
}

TEST_CASE("what has no sure place is not converted") {
    const std::string a = event_of(R"([{"text":"a"}])");
    CHECK_FALSE(assemble(a + event_of(R"([{"text":"b"}])", R"(,"logprobsResult":{"a":1})") +
                         event_of(R"([{"text":"b"}])", R"(,"logprobsResult":{"a":1})")));
    CHECK_FALSE(assemble(event_of("[]", R"(,"finishReason":"STOP")") + event_of("[]", R"(,"finishReason":"OTHER")")));
    CHECK_FALSE(assemble(event_of("[]", "", R"(,"responseId":"r")") + event_of("[]", "", R"(,"responseId":"s")")));
    CHECK_FALSE(assemble(a + event_of(R"([{"functionCall":{"name":"f","willContinue":true}}])")));
    CHECK_FALSE(assemble(a + event_of(R"([{"functionCall":{"partialArgs":[{}]}}])")));
    CHECK_FALSE(assemble(a + event_of("1")));
    CHECK_FALSE(assemble(a + event(R"({"candidates":[{"index":"0"}]})")));
    CHECK_FALSE(assemble(a + event(R"({"candidates":[1]})")));
    CHECK_FALSE(assemble(a + event(R"({"error":{"code":503}})")));
    CHECK_FALSE(assemble(a + "data: nonsense\n\n"));
    CHECK_FALSE(assemble(a + "data: {\"half\""));
    CHECK_FALSE(assemble(""));
    CHECK_FALSE(gemini_generate().split(R"({"error":{"code":503}})", false));
    CHECK_FALSE(gemini_generate().split("[]", false));
}

TEST_CASE("signatures, call ids, ratings and the cutting of texts are no difference; words are") {
    const auto normal = [](std::string_view parts, std::string_view more = "") {
        return gemini_generate().normalised(form::sse, event_of(parts, more));
    };
    CHECK(normal(R"([{"text":"ab"}])") == normal(R"([{"text":"a"},{"text":"b"},{"text":"","thoughtSignature":"s"}])"));
    CHECK(normal(R"([{"functionCall":{"id":"x","name":"f","args":{}},"thoughtSignature":"s"}])") ==
          normal(R"([{"functionCall":{"name":"f","args":{}}}])", R"(,"avgLogprobs":-1)"));
    CHECK(normal(R"([{"text":"a"}])") != normal(R"([{"text":"b"}])"));
    CHECK(normal(R"([{"text":"a"}])") != normal(R"([{"text":"a","thought":true}])"));
    CHECK(normal(R"([{"text":"a"}])", R"(,"finishReason":"STOP")") != normal(R"([{"text":"a"}])"));
    CHECK(normal(R"([{"functionCall":{"name":"f","args":{"a":1}}}])") !=
          normal(R"([{"functionCall":{"name":"f","args":{"a":2}}}])"));
    CHECK(gemini_generate().normalised(form::json, R"({"promptFeedback":{"blockReason":"SAFETY"}})") !=
          gemini_generate().normalised(form::json, "{}"));
    CHECK_FALSE(gemini_generate().normalised(form::json, "[]"));
    CHECK_FALSE(gemini_generate().normalised(form::sse, "data: []\n\n"));
}

namespace {

json::value any_part() {
    switch (*rc::gen::inRange(0, 3)) {
        case 0: {
            json::object part{{"text", any_text()}};
            if (coin()) part["thought"] = coin();
            if (coin()) part["thoughtSignature"] = any_text();
            return part;
        }
        case 1:
            return json::object{{"functionCall", {{"name", any_text()}, {"args", {{"z", any_value()}, {"a", 1}}}}}};
        default:
            return json::object{{"inlineData", {{"mimeType", "image/png"}, {"data", any_text()}}}};
    }
}

json::object any_answer() {
    json::array candidates;
    for (int n = *rc::gen::inRange(1, 3), i = 0; i < n; ++i) {
        json::array parts;
        for (int k = *rc::gen::inRange(0, 5); k > 0; --k) parts.push_back(any_part());
        json::object candidate{
            {"content", {{"parts", parts}, {"role", "model"}}}, {"index", i}, {"finishReason", "STOP"}};
        if (coin()) candidate["tokenCount"] = *rc::gen::arbitrary<int>();
        candidates.push_back(candidate);
    }
    json::object out{
        {"candidates", candidates}, {"usageMetadata", {{"promptTokenCount", 1}}}, {"responseId", any_text()}};
    if (coin()) out["extra"] = any_value();
    return out;
}

// The answer as a server streams it: each part in an event of its own, texts cut in two.
std::string streamed(const json::object& answer) {
    std::string out;
    const auto emit = [&](const json::value& index, json::array parts) {
        json::object o{
            {"candidates",
             {json::object{{"content", {{"parts", std::move(parts)}, {"role", "model"}}}, {"index", index}}}}};
        out += event(json::serialize(o));
    };
    for (const json::value& candidate : answer.at("candidates").as_array()) {
        for (const json::value& part : candidate.at("content").at("parts").as_array()) {
            const json::object& o = part.as_object();
            const bool cuts =
                o.contains("text") && !o.contains("thoughtSignature") && !o.at("text").as_string().empty();
            if (!cuts) {
                emit(candidate.at("index"), {part});
                continue;
            }
            json::object rest = o;
            rest["text"] = "";
            emit(candidate.at("index"), {o});
            emit(candidate.at("index"), {rest});
        }
    }
    json::object end = answer;
    for (json::value& candidate : end.at("candidates").as_array())
        candidate.at("content").as_object()["parts"] = json::array();
    return out + event(json::serialize(end));
}

}  // namespace

TEST_CASE("property: every answer comes back from one event, and in other events says the same") {
    CHECK(rc::check([] {
        const json::object answer = any_answer();
        const std::string text = json::serialize(answer);
        const auto stream = gemini_generate().split(text, false);
        RC_ASSERT(stream.has_value());
        RC_ASSERT(gemini_generate().assemble(*stream) == text);
        RC_ASSERT(gemini_generate().normalised(form::sse, *stream) == gemini_generate().normalised(form::json, text));
        const std::string many = streamed(answer);
        const auto object = gemini_generate().assemble(many);
        RC_ASSERT(object.has_value());
        RC_ASSERT(gemini_generate().normalised(form::sse, many) == gemini_generate().normalised(form::json, text));
        RC_ASSERT(gemini_generate().normalised(form::json, *object) == gemini_generate().normalised(form::json, text));
        RC_ASSERT(parse(*object).at("usageMetadata") == answer.at("usageMetadata"));
        const auto w = gemini_generate().watch(form::sse, [&] {
            call c;
            c.choices = static_cast<unsigned>(answer.at("candidates").as_array().size());
            return c;
        }());
        w->feed(many);
        RC_ASSERT(w->finish(true).refuse == reason::none);
    }));
}
