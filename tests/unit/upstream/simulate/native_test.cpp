// The simulated engine under the native APIs of local engines.
#include "upstream/simulate/native.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <string>

#include "upstream/dialect/registry.hpp"

using namespace idem;
using namespace idem::upstream::simulate;
using upstream::dialect::form;
namespace json = boost::json;

namespace {

std::string text_of(const answer& a) {
    std::string out;
    for (const piece& p : a.pieces) out += p.bytes;
    return out;
}

answer ask(std::string_view path, std::string_view body, const chance& luck = {}) {
    return plan({}, "POST", path, body, luck);
}

const upstream::dialect::dialect& dialect_of(std::string_view path, std::string_view body) {
    const auto* found = upstream::dialect::find("POST", path);
    REQUIRE(found);
    return found->meant("", body);
}

// The answer is whole, of the expected type, and says what the same request with another luck says.
void check_call(std::string_view path, std::string_view body) {
    CAPTURE(path);
    CAPTURE(body);
    CHECK(is_model_call("POST", path));
    const auto& d = dialect_of(path, body);
    const auto call = d.read(body);
    CHECK_FALSE(call.bypass);
    const answer a = ask(path, body, {.seed = 1, .id = 1});
    const answer b = ask(path, body, {.seed = 2, .id = 2});
    CHECK(a.status == 200);
    CHECK(a.model_call);
    CHECK(a.content_type.starts_with(upstream::dialect::content_type(call.wanted)));
    const auto w = d.watch(call.wanted, call);
    w->feed(text_of(a));
    const auto verdict = w->finish(true);
    CHECK(verdict.refuse == reason::none);
    const auto words = d.normalised(call.wanted, text_of(a));
    REQUIRE(words);
    if (call.seeded || call.greedy) CHECK(words == d.normalised(call.wanted, text_of(b)));
}

// Both forms of one answer are conversions of each other, as words.
void check_forms(std::string_view path, const std::string& object, const std::string& stream) {
    const chance luck{.seed = 1, .id = 2};
    const auto& d = dialect_of(path, object);
    const std::string whole = text_of(ask(path, object, luck));
    const std::string pieces = text_of(ask(path, stream, luck));
    CAPTURE(whole);
    CAPTURE(pieces);
    const auto assembled = d.assemble(pieces);
    REQUIRE(assembled);
    const form f = d.read(stream).wanted;
    CHECK(d.normalised(form::json, *assembled) == d.normalised(form::json, whole));
    const auto split = d.split(whole, false);
    REQUIRE(split);
    CHECK(d.normalised(f, *split) == d.normalised(f, pieces));
}

}  // namespace

TEST_CASE("every API answers whole, and the same at temperature 0 or with a seed") {
    const std::string user = R"("messages":[{"role":"user","content":"hi"}])";
    for (const std::string_view stream : {"", R"(,"stream":true)", R"(,"stream":false)"}) {
        const std::string more(stream);
        check_call("/api/chat", R"({"model":"m","options":{"temperature":0},)" + user + more + "}");
        check_call("/api/chat", R"({"model":"m","options":{"seed":7},"think":true,)" + user + more + "}");
        check_call("/api/generate", R"({"model":"m","prompt":"x","options":{"seed":7,"num_predict":3})" + more + "}");
        check_call("/completion", R"({"prompt":"x","temperature":0)" + more + "}");
        check_call("/completion", R"({"prompt":["x","y"],"n_cmpl":2,"seed":1,"n_predict":4)" + more + "}");
        check_call("/infill", R"({"input_prefix":"x","input_suffix":"y","temperature":0)" + more + "}");
        check_call("/generate", R"({"text":"x","sampling_params":{"temperature":0})" + more + "}");
        check_call("/generate", R"({"text":["x"],"sampling_params":{"temperature":0})" + more + "}");
        check_call("/generate", R"({"text":["x","y"],"sampling_params":{"n":2,"sampling_seed":3})" + more + "}");
        check_call("/", R"({"inputs":"x","parameters":{"details":true})" + more + "}");
        check_call("/generate_stream", R"({"inputs":"x","parameters":{"max_new_tokens":3})" + more + "}");
        check_call("/generate", R"({"inputs":"x","parameters":{"do_sample":true,"seed":4})" + more + "}");
    }
    check_call("/api/embed", R"({"model":"m","input":["x","y"]})");
    check_call("/api/embeddings", R"({"model":"m","prompt":"x"})");
    check_call("/embedding", R"({"content":["x","y"]})");
    check_call("/rerank", R"({"query":"x","documents":["a","b","c"],"top_n":2})");
    check_call("/tokenize", R"({"content":"some text"})");
    check_call("/tokenize", R"({"model":"m","prompt":"some text"})");
    check_call("/tokenize", R"({"model":"m",)" + user + "}");
}

TEST_CASE("both forms carry one answer") {
    const std::string user = R"({"model":"m","options":{"temperature":0},"messages":[{"role":"user","content":"hi"}])";
    const std::string tools =
        R"(,"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"a":{"type":"string"}}}}}])";
    for (const std::string& more :
         {std::string(), tools, std::string(R"(,"think":true)"), std::string(R"(,"format":"json")")}) {
        check_forms("/api/chat", user + more + R"(,"stream":false})", user + more + "}");
    }
    const std::string prompt = R"({"model":"m","prompt":"x","options":{"temperature":0})";
    check_forms("/api/generate", prompt + R"(,"stream":false})", prompt + "}");
    const std::string completion = R"({"prompt":"x","temperature":0,"return_tokens":true)";
    check_forms("/completion", completion + "}", completion + R"(,"stream":true})");
    for (const std::string_view text : {R"("x")", R"(["x"])", R"(["x","y"])"}) {
        const std::string generate = R"({"text":)" + std::string(text) + R"(,"sampling_params":{"temperature":0})";
        check_forms("/generate", generate + "}", generate + R"(,"stream":true})");
    }
}

TEST_CASE("without a seed the text is chance's") {
    const auto of = [](std::uint64_t seed) {
        const std::string body = R"({"model":"m","prompt":"x","stream":false})";
        return std::string(json::parse(text_of(ask("/api/generate", body, {.seed = seed}))).at("response").as_string());
    };
    CHECK(of(1) == of(1));
    CHECK(of(1) != of(2));
}

TEST_CASE("limits, stop strings and tools as elsewhere") {
    const auto generate = [](std::string_view options) {
        return json::parse(
            text_of(ask("/api/generate", R"({"model":"m","prompt":"x","stream":false,"options":{"temperature":0)" +
                                             std::string(options) + "}}")));
    };
    const std::string full(generate("").at("response").as_string());
    const json::value cut = generate(R"(,"num_predict":3)");
    CHECK(cut.at("done_reason") == "length");
    CHECK(full.starts_with(std::string(cut.at("response").as_string())));
    const json::value stopped = generate(R"(,"stop":[" "])");
    CHECK(std::string(stopped.at("response").as_string()) == full.substr(0, full.find(' ')));
    CHECK(stopped.at("done_reason") == "stop");
}

TEST_CASE("errors have the API's own shape") {
    const auto error = [](std::string_view path, std::string_view body) {
        const answer a = ask(path, body);
        CHECK(a.status >= 400);
        return json::parse(text_of(a)).at("error");
    };
    CHECK(error("/api/chat", R"({"messages":[{}]})").is_string());
    CHECK(error("/api/chat", R"({"model":"error-429","messages":[{}]})").is_string());
    CHECK(error("/completion", "{}").is_object());
    CHECK(error("/generate", "{}").is_object());
    CHECK(error("/generate_stream", "{}").is_string());
    CHECK(error("/completion", "[]").is_object());
    CHECK(ask("/api/chat", R"({"model":"error-429","messages":[{}]})").status == 429);
    CHECK_FALSE(is_model_call("GET", "/api/chat"));
    CHECK_FALSE(is_model_call("POST", "/api/pull"));
}
