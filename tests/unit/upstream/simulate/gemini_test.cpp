// The simulated engine as Gemini.
#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <string>

#include "tests/unit/upstream/simulate/forms.hpp"
#include "upstream/dialect/registry.hpp"

using namespace idem;
using namespace idem::upstream;
using namespace idem::upstream::simulate;
using namespace idem::upstream::simulate::testing;
namespace json = boost::json;

namespace {

const std::string model = "/v1beta/models/gemini-simulated:";

answer ask(std::string_view method, std::string_view body, const chance& luck = {}) {
    return plan({}, "POST", model + std::string(method), body, luck);
}

std::string request(std::string_view settings = "", std::string_view more = "") {
    return R"({"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"temperature":0)" +
           std::string(settings) + "}" + std::string(more) + "}";
}

json::value generate(std::string_view body, const chance& luck = {}) {
    return json::parse(text_of(ask("generateContent", body, luck)));
}

std::string text_in(const json::value& answer) {
    return std::string(answer.at("candidates").at(0).at("content").at("parts").at(0).at("text").as_string());
}

void check(const std::string& settings, const std::string& more = "", unsigned candidates = 1) {
    CAPTURE(settings);
    const chance luck{.seed = 1, .id = 2};
    dialect::call c;
    c.choices = candidates;
    const std::string body = request(settings, more);
    check_forms(dialect::gemini_generate(), c, ask("generateContent", body, luck),
                ask("streamGenerateContent?alt=sse", body, luck));
}

const std::string tools =
    R"(,"tools":[{"functionDeclarations":[{"name":"f"},{"name":"paint","parametersJsonSchema":{"properties":{"n":{"type":"integer"}}}}]}])";

}  // namespace

TEST_CASE("stream and object carry one answer") {
    check("");
    check(R"(,"candidateCount":2)", "", 2);
    check(R"(,"maxOutputTokens":3)");
    check(R"(,"thinkingConfig":{"includeThoughts":true})");
    check(R"(,"responseSchema":{"properties":{"a":{"type":"string"}}})");
    check("", tools);
}

TEST_CASE("without alt=sse a stream is one array in pieces") {
    const answer a = ask("streamGenerateContent", request());
    CHECK(a.stream);
    CHECK(a.content_type == "application/json");
    CHECK(a.pieces.size() > 2);
    CHECK(json::parse(text_of(a)).as_array().size() == a.pieces.size());
}

TEST_CASE("the text follows from prompt, settings and model; from chance only above temperature 0") {
    const std::string said = text_in(generate(request(), {.seed = 1}));
    CHECK(said == text_in(generate(request(R"(,"candidateCount":1)", R"(,"labels":{"a":"b"})"), {.seed = 2})));
    CHECK(said.starts_with(text_in(generate(request(R"(,"maxOutputTokens":3)")))));
    CHECK(said != text_in(generate(request(R"(,"topK":3)"))));
    CHECK(said != text_in(generate(request("", R"(,"systemInstruction":{"parts":[{"text":"be brief"}]})"))));
    CHECK(said != text_in(json::parse(text_of(plan({}, "POST", "/v1beta/models/x:generateContent", request(), {})))));
    const std::string sampled = R"({"contents":[{"parts":[{"text":"hi"}]}])";
    CHECK(generate(sampled + "}", {.seed = 1}).at("candidates") !=
          generate(sampled + "}", {.seed = 2}).at("candidates"));
    const std::string seeded = sampled + R"(,"generationConfig":{"seed":1}})";
    CHECK(generate(seeded, {.seed = 1}).at("candidates") == generate(seeded, {.seed = 2}).at("candidates"));
}

TEST_CASE("functions are called until they have answered, the allowed one first") {
    const auto part = [](const json::value& answer) {
        return answer.at("candidates").at(0).at("content").at("parts").at(0);
    };
    CHECK(part(generate(request("", tools))).at("functionCall").at("name").as_string() == "f");
    const std::string allowed =
        R"(,"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["paint"]}})";
    const json::value call = part(generate(request("", tools + allowed)));
    CHECK(call.at("functionCall").at("args").at("n").is_int64());
    CHECK(text_in(generate(request("", tools + R"(,"toolConfig":{"functionCallingConfig":{"mode":"NONE"}})"))) != "");
    CHECK(text_in(generate(R"({"contents":[{"parts":[{"functionResponse":{"name":"f","response":{}}}]}])" + tools +
                           "}")) != "");
}

TEST_CASE("counts and vectors") {
    const auto object = [](std::string_view method, std::string_view body) {
        return json::parse(text_of(ask(method, body)));
    };
    CHECK(object("countTokens", request()).at("totalTokens") ==
          generate(request()).at("usageMetadata").at("promptTokenCount"));
    CHECK(object("countTokens", R"({"generateContentRequest":{"contents":[]}})").at("totalTokens").is_int64());
    const json::value one = object("embedContent", R"({"content":{"parts":[{"text":"a"}]},"outputDimensionality":4})");
    CHECK(one.at("embedding").at("values").as_array().size() == 4);
    const json::value two =
        object("batchEmbedContents", R"({"requests":[{"content":{"parts":[{"text":"a"}]},"outputDimensionality":4},)"
                                     R"({"content":{"parts":[{"text":"b"}]},"outputDimensionality":4}]})");
    CHECK(two.at("embeddings").as_array().size() == 2);
    CHECK(two.at("embeddings").at(0) == one.at("embedding"));
    CHECK(two.at("embeddings").at(0) != two.at("embeddings").at(1));
}

TEST_CASE("bad requests have Google's errors") {
    CHECK(ask("generateContent", "{}").status == 400);
    CHECK(ask("generateContent", "[]").status == 400);
    const answer busy = plan({}, "POST", "/v1beta/models/error-429:streamGenerateContent?alt=sse", request(), {});
    CHECK(busy.status == 429);
    CHECK(json::parse(text_of(busy)).at("error").at("status").as_string() == "RESOURCE_EXHAUSTED");
    CHECK(is_model_call("POST", model + "generateContent"));
    CHECK_FALSE(is_model_call("GET", model + "generateContent"));
}
