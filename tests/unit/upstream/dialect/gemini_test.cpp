// What the Gemini dialects read off requests, their errors, and when their answers are complete and good.
#include <doctest/doctest.h>

#include <string>

#include "upstream/dialect/gemini_common.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/registry.hpp"
#include "upstream/dialect/sse.hpp"

using namespace idem;
using namespace idem::upstream::dialect;

namespace {

constexpr std::string_view plain_path = "/v1beta/models/gemini-2.5-flash:generateContent";
constexpr std::string_view stream_path = "/v1beta/models/gemini-2.5-flash:streamGenerateContent";

call ask(std::string_view path, std::string_view query, std::string_view body = R"({"contents":[]})") {
    const dialect* d = find("POST", path);
    REQUIRE(d);
    call c = d->read(body);
    d->read_target(c, path, query);
    return c;
}

call with(std::string_view more) {
    return ask(plain_path, "", R"({"contents":[])" + std::string(more) + "}");
}

verdict watch(form f, std::string_view body, bool framed = true, unsigned candidates = 1) {
    call c;
    c.choices = candidates;
    const auto w = gemini_generate().watch(f, c);
    w->feed(body);
    return w->finish(framed);
}

std::string candidate(std::string_view text, std::string_view finish = "", unsigned index = 0) {
    std::string out = R"({"content":{"parts":[{"text":")" + std::string(text) + R"("}],"role":"model"},)";
    if (!finish.empty()) out += R"("finishReason":")" + std::string(finish) + "\",";
    return out + R"("index":)" + std::to_string(index) + "}";
}

std::string answer(std::string_view candidates, std::string_view more = "") {
    return R"({"candidates":[)" + std::string(candidates) +
           R"(],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4,"thoughtsTokenCount":5},"modelVersion":"m-1")" +
           std::string(more) + "}";
}

std::string event(std::string_view data) {
    return "data: " + std::string(data) + "\r\n\r\n";
}

const std::string whole = event(answer(candidate("hé"))) + event(answer(candidate("llo", "STOP")));

reason of_stream(std::string_view body, bool framed = true) {
    return watch(form::sse, body, framed).refuse;
}
reason of_object(std::string_view body) {
    return watch(form::json, body).refuse;
}

}  // namespace

TEST_CASE("calls find their dialect by the method behind the model, of any version and on Vertex AI") {
    CHECK(find("POST", plain_path) == &gemini_generate());
    CHECK(find("POST", stream_path) == &gemini_generate());
    CHECK(find("POST", "/v1/models/m:generateContent") == &gemini_generate());
    CHECK(find("POST", "/models/m:generateContent") == &gemini_generate());
    CHECK(find("POST", "/v1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent") ==
          &gemini_generate());
    CHECK(find("POST", "/v1beta/tunedModels/m:generateContent") == &gemini_generate());
    CHECK(find("POST", "/v1beta/models/m:countTokens") == &gemini_count_tokens());
    CHECK(find("POST", "/v1beta/models/m:embedContent") == &gemini_embed());
    CHECK(find("POST", "/v1beta/models/m:batchEmbedContents") == &gemini_batch_embed());
    for (const std::string_view path :
         {"/v1beta/models/m", "/v1beta/models/m:predict", "/v1beta/models/:generateContent", ":generateContent",
          "/m:generateContent", "generateContent", "/v1beta/cachedContents"}) {
        CAPTURE(path);
        CHECK(find("POST", path) == nullptr);
    }
    CHECK(find("GET", plain_path) == nullptr);
    for (const dialect* d : {&gemini_generate(), &gemini_count_tokens(), &gemini_embed(), &gemini_batch_embed()}) {
        CHECK(by_name(d->name()) == d);
        CHECK(find("POST", d->normal_path()) == d);
    }
}

TEST_CASE("the model stands in the path, which enters the digest without the method") {
    CHECK(ask(plain_path, "").model == "gemini-2.5-flash");
    CHECK(gemini_generate().digest_path(plain_path) == "/v1beta/models/gemini-2.5-flash");
    CHECK(gemini_generate().digest_path(stream_path) == gemini_generate().digest_path(plain_path));
    CHECK(ask("/v1/projects/p/locations/l/publishers/google/models/m:countTokens", "").model == "m");
}

TEST_CASE("the form: events if they are asked for, an object, and no other") {
    CHECK(ask(plain_path, "").wanted == form::json);
    CHECK_FALSE(ask(plain_path, "").bypass);
    CHECK_FALSE(ask(plain_path, "alt=json&key=k").bypass);
    CHECK(ask(stream_path, "alt=sse").wanted == form::sse);
    CHECK(ask(stream_path, "key=k&$alt=sse").wanted == form::sse);
    CHECK_FALSE(ask(stream_path, "key=k&alt=sse").bypass);
    for (const std::string_view query : {"", "alt=json", "alt=", "alt", "alt=proto", "alt=sse&alt=json", "xalt=sse"}) {
        CAPTURE(query);
        CHECK(ask(stream_path, query).bypass == reason::form_unsupported);
    }
    for (const std::string_view query : {"alt=sse", "alt=proto", "alt=json&alt=json", "%24alt=media", "%61lt=sse"}) {
        CAPTURE(query);
        CHECK(ask(plain_path, query).bypass == reason::form_unsupported);
    }
    CHECK(ask("/v1beta/models/m:countTokens", "alt=media").bypass == reason::form_unsupported);
    CHECK(gemini::alternative("a=1&alt=sse&b") == "sse");
}

TEST_CASE("what a request says of its sampling, in both spellings") {
    CHECK_FALSE(with("").greedy);
    for (const std::string_view settings :
         {R"(,"generationConfig":{"temperature":0.0,"seed":1,"maxOutputTokens":5,"candidateCount":2})",
          R"(,"generation_config":{"temperature":0,"seed":1,"max_output_tokens":5,"candidate_count":2})",
          R"(,"generation\u0043onfig":{"temp\u0065rature":0,"seed":1,"maxOutputTokens":5,"candidateCount":2})"}) {
        const call c = with(settings);
        CHECK(c.greedy);
        CHECK(c.seeded);
        CHECK(c.limit_set);
        CHECK(c.choices == 2);
    }
    CHECK_FALSE(with(R"(,"generationConfig":{"temperature":1,"seed":null})").seeded);
}

TEST_CASE("functions are cached; what Google runs or holds is not") {
    const auto tools = [](std::string_view list) { return with(R"(,"tools":[)" + std::string(list) + "]").bypass; };
    CHECK_FALSE(tools(R"({"functionDeclarations":[{"name":"f"}]},{"function_declarations":[],"googleSearch":null})"));
    CHECK(tools(R"({"functionDeclarations":[]},{"googleSearch":{}})") == reason::time_dependent_call);
    CHECK(tools(R"({"google_search":{}})") == reason::time_dependent_call);
    CHECK(tools(R"({"google_search_retrieval":{}})") == reason::time_dependent_call);
    CHECK(tools(R"({"url_context":{}})") == reason::time_dependent_call);
    CHECK(tools(R"({"googleMaps":{}})") == reason::time_dependent_call);
    CHECK(tools(R"({"fileSearch":{}})") == reason::stateful_call);
    CHECK(tools(R"({"codeExecution":{}})") == reason::side_effecting_call);
    CHECK(tools(R"({"a_tool_of_next_year":{}})") == reason::side_effecting_call);
    CHECK(with(R"(,"cachedContent":"cachedContents/x")").bypass == reason::stateful_call);
    CHECK(with(R"(,"cached_content":"cachedContents/x")").bypass == reason::stateful_call);
    CHECK(with(R"(,"continuationToken":"x")").bypass == reason::stateful_call);
    CHECK(with(R"(,"store":true)").bypass == reason::stateful_call);
    CHECK_FALSE(with(R"(,"store":false,"cachedContent":null)").bypass);
    CHECK(ask("/v1beta/models/m:countTokens", "", R"({"generateContentRequest":{"cachedContent":"x"}})").bypass ==
          reason::stateful_call);
}

TEST_CASE("errors are google.rpc.Status on all of Gemini's paths, with the reason inside") {
    const std::string body = error_body(plain_path, 504, reason::only_if_cached, "say \"x\"");
    REQUIRE(is_json(body));
    const std::string_view error = find_member(body, "error");
    CHECK(find_member(error, "code") == "504");
    CHECK(find_member(error, "status") == "\"DEADLINE_EXCEEDED\"");
    CHECK(find_member(error, "message") == R"("say \"x\"")");
    CHECK(body.find(R"("reason":"only_if_cached")") != body.npos);
    CHECK(error_body("/v1beta/cachedContents", 502, reason::upstream_connect, "x").find("UNAVAILABLE") != body.npos);
    CHECK(error_body("/v1beta/openai/chat/completions", 502, reason::upstream_connect, "x").find("UNAVAILABLE") ==
          body.npos);
    const std::string text = gemini_generate().error_event(reason::upstream_truncated, "x");
    std::string_view in = text;
    sse_splitter splitter;
    REQUIRE(splitter.next(in) == sse_step::event);
    CHECK(is_json(splitter.event().data));
    CHECK(of_stream(event(answer(candidate("a"))) + text) == reason::error_in_answer);
}

TEST_CASE("a whole answer is good in both forms, and says model and tokens") {
    for (const verdict& v : {watch(form::sse, whole), watch(form::json, answer(candidate("hello", "STOP")))}) {
        CHECK(v.refuse == reason::none);
        CHECK(v.model == "m-1");
        REQUIRE(v.tokens);
        CHECK(v.tokens->input == 3);
        CHECK(v.tokens->output == 9);
        CHECK_FALSE(v.length_limited);
    }
}

TEST_CASE("a stream that is cut anywhere is refused, as is an object") {
    for (std::size_t cut = 0; cut + 1 < whole.size(); ++cut) {
        CAPTURE(cut);
        CHECK(of_stream(std::string_view(whole).substr(0, cut)) != reason::none);
    }
    CHECK(of_stream(whole, false) == reason::framing_incomplete);
    CHECK(of_stream(event(answer(candidate("a")))) == reason::terminal_missing);
    const std::string object = answer(candidate("hello", "STOP"));
    for (std::size_t cut = 0; cut < object.size(); ++cut)
        CHECK(of_object(std::string_view(object).substr(0, cut)) == reason::answer_malformed);
    for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
        const auto w = gemini_generate().watch(form::sse, call{});
        w->feed(std::string_view(whole).substr(0, cut));
        w->feed(std::string_view(whole).substr(cut));
        CHECK(w->finish(true).refuse == reason::none);
        CHECK(w->boundary() == whole.size());
    }
}

TEST_CASE("how candidates end") {
    const auto both = [](const std::string& object) {
        const reason one = of_object(object);
        CHECK(of_stream(event(object)) == one);
        return one;
    };
    CHECK(watch(form::json, answer(candidate("a", "MAX_TOKENS"))).length_limited);
    CHECK(both(answer(candidate("a", "MAX_TOKENS"))) == reason::none);
    for (const std::string_view why : {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"})
        CHECK(both(answer(candidate("a", why))) == reason::content_filtered);
    for (const std::string_view why : {"MALFORMED_FUNCTION_CALL", "OTHER", "A_REASON_OF_NEXT_YEAR"})
        CHECK(both(answer(candidate("a", why))) == reason::error_in_answer);
    CHECK(both(answer(candidate("a", "CONTINUATION"))) == reason::choice_unfinished);
    CHECK(of_object(answer(candidate("a"))) == reason::choice_unfinished);
    CHECK(of_object(answer("")) == reason::no_choices);
    CHECK(of_object("{}") == reason::no_choices);
    CHECK(both(R"({"promptFeedback":{"blockReason":"SAFETY"}})") == reason::content_filtered);
    CHECK(both(R"({"error":{"code":429,"message":"x","status":"RESOURCE_EXHAUSTED"}})") == reason::error_in_answer);
    CHECK(of_object(R"({"candidates":{}})") == reason::answer_malformed);
    CHECK(of_object(answer("1")) == reason::answer_malformed);
    CHECK(of_object(answer(R"({"index":-1,"finishReason":"STOP"})")) == reason::answer_malformed);
    CHECK(of_object(answer(R"({"index":1000000,"finishReason":"STOP"})")) == reason::answer_malformed);
    CHECK(of_object(answer(R"({"finishReason":1})")) == reason::answer_malformed);
    CHECK(of_object(answer(R"({"content":1,"finishReason":"STOP"})")) == reason::answer_malformed);
    CHECK(of_stream(whole + "data: nonsense\n\n") == reason::answer_malformed);
    CHECK(of_stream("data: [" + answer(candidate("a", "STOP")) + "]\n\n") == reason::answer_malformed);
    CHECK(of_stream(whole + event(answer(""))) == reason::none);
}

TEST_CASE("every candidate that was asked for has to end") {
    const std::string two = answer(candidate("a", "STOP") + "," + candidate("b", "STOP", 1));
    CHECK(watch(form::json, two, true, 2).refuse == reason::none);
    CHECK(watch(form::json, two, true, 3).refuse == reason::choice_unfinished);
    CHECK(watch(form::json, answer(candidate("a", "STOP")), true, 2).refuse == reason::choice_unfinished);
    CHECK(watch(form::json, answer(candidate("b", "STOP", 1)), true, 2).refuse == reason::choice_unfinished);
    CHECK(watch(form::sse, event(answer(candidate("a", "STOP"))) + event(answer(candidate("b", "", 1))), true, 2)
              .refuse == reason::choice_unfinished);
}

TEST_CASE("plain objects") {
    const auto judged = [](const dialect& d, std::string_view request, std::string_view body) {
        const auto w = d.watch(form::json, d.read(request));
        w->feed(body);
        return w->finish(true).refuse;
    };
    CHECK(judged(gemini_count_tokens(), "{}", R"({"totalTokens":5})") == reason::none);
    CHECK(judged(gemini_count_tokens(), "{}", R"({"totalTokens":"5"})") == reason::answer_malformed);
    CHECK(judged(gemini_count_tokens(), "{}", "{}") == reason::no_choices);
    CHECK(judged(gemini_count_tokens(), "{}", R"({"error":{}})") == reason::error_in_answer);
    CHECK(judged(gemini_count_tokens(), "{}", R"({"totalTokens":5)") == reason::answer_malformed);
    CHECK(judged(gemini_embed(), "{}", R"({"embedding":{"values":[0.5]}})") == reason::none);
    CHECK(judged(gemini_embed(), "{}", R"({"embedding":{"values":[]}})") == reason::answer_malformed);
    CHECK(judged(gemini_embed(), "{}", R"({"embedding":{"values":[null]}})") == reason::answer_malformed);
    CHECK(judged(gemini_embed(), "{}", R"({"embedding":{"values":"AAAA"}})") == reason::answer_malformed);
    CHECK(judged(gemini_embed(), "{}", R"({"error":{}})") == reason::error_in_answer);
    const std::string_view two = R"({"requests":[{},{}]})";
    CHECK(judged(gemini_batch_embed(), two, R"({"embeddings":[{"values":[1]},{"values":[2]}]})") == reason::none);
    CHECK(judged(gemini_batch_embed(), two, R"({"embeddings":[{"values":[1]}]})") == reason::choice_unfinished);
    CHECK(judged(gemini_batch_embed(), two, R"({"embeddings":[{"values":[1]},1]})") == reason::answer_malformed);
    CHECK(judged(gemini_batch_embed(), two, R"({"embeddings":[]})") == reason::no_choices);
    CHECK(gemini_embed().read("{}").greedy);
    CHECK(gemini_embed().normalised(form::json, R"({"embedding":{"values":[0.5]},"usageMetadata":{"a":1}})") ==
          R"({"embedding":{"values":[0.5]}})");
    CHECK_FALSE(gemini_embed().normalised(form::json, "[]"));
    CHECK_FALSE(gemini_count_tokens().split("{}", false));
    CHECK_FALSE(gemini_count_tokens().assemble("data: {}\n\n"));
}
