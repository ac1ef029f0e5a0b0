// Ollama's chat, generate and embeddings: what is read, when an answer is complete, and its two forms.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <boost/json.hpp>
#include <string>

#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/lines.hpp"
#include "upstream/dialect/registry.hpp"

using namespace idem;
using namespace idem::upstream::dialect;
namespace json = boost::json;

namespace {

verdict watch(const dialect& d, form f, std::string_view body, bool framed = true, unsigned choices = 1) {
    call c;
    c.choices = choices;
    const auto w = d.watch(f, c);
    w->feed(body);
    return w->finish(framed);
}

// As Ollama 0.12 wrote them.
const std::string think =
    R"({"model":"qwen3","created_at":"2026-01-05T10:00:00.1Z","message":{"role":"assistant","content":"","thinking":"Hm, \"why\""},"done":false})"
    "\n";
const std::string word =
    R"({"model":"qwen3","created_at":"2026-01-05T10:00:00.2Z","message":{"role":"assistant","content":"The sk"},"done":false})"
    "\n";
const std::string word2 =
    R"({"model":"qwen3","created_at":"2026-01-05T10:00:00.3Z","message":{"role":"assistant","content":"y é東🙂"},"done":false})"
    "\n";
const std::string tool =
    R"({"model":"qwen3","created_at":"2026-01-05T10:00:00.35Z","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_1","function":{"index":0,"name":"f","arguments":{"b":1.50,"a":[]}}}]},"done":false})"
    "\n";
const std::string end =
    R"({"model":"qwen3","created_at":"2026-01-05T10:00:00.4Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":5043500667,"load_duration":5025959,"prompt_eval_count":26,"prompt_eval_duration":325953000,"eval_count":290,"eval_duration":4709213000})"
    "\n";
const std::string stream = think + word + word2 + tool + end;

const std::string piece = R"({"model":"m","created_at":"t1","response":"Hel","done":false})"
                          "\n";
const std::string piece_end =
    R"({"model":"m","created_at":"t2","response":"lo","done":true,"done_reason":"length","context":[1,2,12345678901234567890],"total_duration":7,"eval_count":2,"prompt_eval_count":3})"
    "\n";

reason verdict_of(std::string_view body) {
    return watch(ollama_chat(), form::ndjson, body).refuse;
}

}  // namespace

TEST_CASE("calls find their dialect") {
    CHECK(find("POST", "/api/chat") == &ollama_chat());
    CHECK(find("POST", "/api/generate") == &ollama_generate());
    CHECK(find("POST", "/api/embed") == &ollama_embed());
    CHECK(find("POST", "/api/embeddings") == &ollama_embeddings());
    CHECK(find("GET", "/api/tags") == nullptr);
    CHECK(find("POST", "/api/pull") == nullptr);
    CHECK(find("POST", "/v1/api/chat") == nullptr);
}

TEST_CASE("silence about `stream` means a stream") {
    const auto chat = [](std::string_view more) {
        return ollama_chat().read(R"({"model":"m","messages":[{"role":"user","content":"x"}])" + std::string(more) +
                                  "}");
    };
    CHECK(chat("").wanted == form::ndjson);
    CHECK(chat(R"(,"stream":null)").wanted == form::ndjson);
    CHECK(chat(R"(,"stream":true)").wanted == form::ndjson);
    CHECK(chat(R"(,"stream":false)").wanted == form::json);
    CHECK(chat("").model == "m");
    CHECK_FALSE(chat("").bypass);
    CHECK_FALSE(chat("").greedy);
    const call full = chat(R"(,"options":{"temperature":0.0,"seed":7,"num_predict":9})");
    CHECK(full.greedy);
    CHECK(full.seeded);
    CHECK(full.limit_set);
    const call none = chat(R"(,"options":{"temperature":0.1,"seed":-1,"num_predict":-1})");
    CHECK_FALSE(none.greedy);
    CHECK_FALSE(none.seeded);
    CHECK_FALSE(none.limit_set);
    CHECK(ollama_embed().read(R"({"model":"m","input":"x","stream":true})").wanted == form::json);
    CHECK_FALSE(ollama_chat().minds_content_type());
}

TEST_CASE("what only loads, unloads or renders is no call to be cached") {
    const auto chat = [](std::string_view body) { return ollama_chat().read(body).bypass; };
    CHECK(chat(R"({"model":"m"})") == reason::no_generation);
    CHECK(chat(R"({"model":"m","messages":[]})") == reason::no_generation);
    CHECK(chat(R"({"model":"m","messages":null,"keep_alive":0})") == reason::no_generation);
    CHECK(chat(R"({"model":"m","messages":[{}],"_debug_render_only":true})") == reason::no_generation);
    CHECK(chat(R"({"messages":[{}]})") == reason::missing_model);
    CHECK_FALSE(chat(R"({"model":"m","messages":[{}],"keep_alive":0})"));
    CHECK(ollama_generate().read(R"({"model":"m","prompt":""})").bypass == reason::no_generation);
    CHECK_FALSE(ollama_generate().read(R"({"model":"m","prompt":"x"})").bypass);
    CHECK(ollama_embed().read(R"({"model":"m","input":[]})").bypass == reason::no_generation);
    CHECK(ollama_embed().read(R"({"model":"m","input":["a","b"]})").choices == 2);
    CHECK(ollama_embeddings().read(R"({"model":"m","prompt":""})").bypass == reason::no_generation);
}

TEST_CASE("a whole stream is good, and says model and tokens") {
    const verdict v = watch(ollama_chat(), form::ndjson, stream);
    CHECK(v.refuse == reason::none);
    CHECK(v.model == "qwen3");
    REQUIRE(v.tokens);
    CHECK(v.tokens->input == 26);
    CHECK(v.tokens->output == 290);
    CHECK_FALSE(v.length_limited);
    CHECK(watch(ollama_generate(), form::ndjson, piece + piece_end).length_limited);
    CHECK(watch(ollama_generate(), form::ndjson, piece + piece_end).refuse == reason::none);
    CHECK(verdict_of(stream.substr(0, stream.size() - 1)) == reason::none);  // the last line may lack its end
    CHECK(verdict_of("\n" + stream + "\r\n\n") == reason::none);
}

TEST_CASE("a stream that is cut anywhere is refused, and byte by byte changes nothing") {
    for (std::size_t cut = 0; cut + 1 < stream.size(); ++cut) {
        CAPTURE(cut);
        CHECK(verdict_of(std::string_view(stream).substr(0, cut)) != reason::none);
        CHECK(watch(ollama_chat(), form::ndjson, std::string_view(stream).substr(0, cut), false).refuse ==
              reason::framing_incomplete);
    }
    const auto w = ollama_chat().watch(form::ndjson, {});
    for (const char c : stream) w->feed(std::string_view(&c, 1));
    CHECK(w->boundary() == stream.size());
    CHECK_FALSE(w->usage_event());
    CHECK(w->finish(true).refuse == reason::none);
}

TEST_CASE("what is wrong is named") {
    CHECK(verdict_of("") == reason::terminal_missing);
    CHECK(verdict_of(word) == reason::terminal_missing);
    CHECK(verdict_of(word + "{\"error\":\"out of memory\"}\n") == reason::error_in_answer);
    CHECK(verdict_of(word + "{\"error\":{}}\n" + end) == reason::error_in_answer);
    CHECK(verdict_of(word + "{\"err\n" + end) == reason::answer_malformed);
    CHECK(verdict_of(word + "[]\n" + end) == reason::answer_malformed);
    CHECK(verdict_of(end + word) == reason::answer_malformed);
    CHECK(verdict_of(piece + piece_end) == reason::answer_malformed);  // not chat's
    CHECK(verdict_of(R"({"message":{},"done":1})") == reason::answer_malformed);
    CHECK(verdict_of(R"({"message":{"role":"assistant","content":""},"done":true,"done_reason":"load"})") ==
          reason::no_choices);
    CHECK(verdict_of(word + std::string(line_splitter::max_line + 1, ' ') + "\n" + end) == reason::answer_malformed);
}

TEST_CASE("objects: good, cut, not done, wrong") {
    const std::string good = *ollama_chat().assemble(stream);
    const auto of = [](std::string_view body, bool framed = true) {
        return watch(ollama_chat(), form::json, body, framed).refuse;
    };
    CHECK(of(good) == reason::none);
    CHECK(of(good + "\n") == reason::none);
    CHECK(of(good, false) == reason::framing_incomplete);
    for (std::size_t cut = 0; cut < good.size(); ++cut) {
        CHECK(of(std::string_view(good).substr(0, cut)) == reason::answer_malformed);
    }
    CHECK(of(good + good) == reason::answer_malformed);
    CHECK(of(word) == reason::choice_unfinished);
    CHECK(of("[]") == reason::answer_malformed);
    CHECK(of("{}") == reason::answer_malformed);
    CHECK(of(R"({"error":"x"})") == reason::error_in_answer);
    CHECK(watch(ollama_generate(), form::json, R"({"response":"","done":true,"done_reason":"unload"})").refuse ==
          reason::no_choices);
}

TEST_CASE("a stream becomes the object, raw tokens kept: golden") {
    CHECK(
        ollama_chat().assemble(stream) ==
        R"({"model":"qwen3","created_at":"2026-01-05T10:00:00.4Z","message":{"role":"assistant","content":"The sky é東🙂","thinking":"Hm, \"why\"","tool_calls":[{"id":"call_1","function":{"index":0,"name":"f","arguments":{"b":1.50,"a":[]}}}]},"done":true,"done_reason":"stop","total_duration":5043500667,"load_duration":5025959,"prompt_eval_count":26,"prompt_eval_duration":325953000,"eval_count":290,"eval_duration":4709213000})");
    CHECK(
        ollama_generate().assemble(piece + piece_end) ==
        R"({"model":"m","created_at":"t2","response":"Hello","done":true,"done_reason":"length","context":[1,2,12345678901234567890],"total_duration":7,"eval_count":2,"prompt_eval_count":3})");
}

TEST_CASE("an object becomes lines: golden") {
    const std::string object =
        R"({"model":"m","created_at":"t","message":{"role":"assistant","content":"hi","thinking":"hm","tool_calls":[{"function":{"name":"f","arguments":{}}}]},"done":true,"done_reason":"stop","eval_count":2,"logprobs":[{"token":"hi"}]})";
    const std::string head = R"({"model":"m","created_at":"t","message":{"role":"assistant","content":)";
    CHECK(ollama_chat().split(object, false) ==
          head + R"("","thinking":"hm"},"done":false})" + "\n" + head +
              R"("hi"},"done":false,"logprobs":[{"token":"hi"}]})" + "\n" + head +
              R"("","tool_calls":[{"function":{"name":"f","arguments":{}}}]},"done":false})" + "\n" + head +
              R"(""},"done":true,"done_reason":"stop","eval_count":2})" + "\n");
    CHECK(ollama_generate().split(R"({"model":"m","response":"hi","done":true,"context":[1]})", true) ==
          "{\"model\":\"m\",\"response\":\"hi\",\"done\":false}\n"
          "{\"model\":\"m\",\"response\":\"\",\"done\":true,\"context\":[1]}\n");
    CHECK(ollama_generate().split("{\n \"response\": \"\",\n \"done\": true\n}", true) ==
          "{\"response\":\"\",\"done\":true}\n");
}

TEST_CASE("what would lose something is not converted") {
    const auto no = [](std::string_view object) { return !ollama_chat().split(object, false); };
    CHECK(no(""));
    CHECK(no("[]"));
    CHECK(no(R"({"message":{"content":"x"}})"));
    CHECK(no(R"({"message":{"content":"x"},"done":false})"));
    CHECK(no(R"({"message":{"content":["x"]},"done":true})"));
    CHECK(no(R"({"message":{"content":"x","thinking":7},"done":true})"));
    CHECK(no(R"({"message":{"content":"x","tool_calls":{}},"done":true})"));
    CHECK(no(R"({"message":{"content":"x"},"done":true,"error":"e"})"));
    CHECK(no(R"({"message":{"content":"x","content":"y"},"done":true})"));
    CHECK(no(R"({"message":{"content":"x"},"done":true,"done":true})"));
    CHECK_FALSE(ollama_chat().assemble(word + word2));
    CHECK_FALSE(ollama_chat().assemble(word + "{\"error\":\"x\"}\n" + end));
    CHECK_FALSE(ollama_chat().assemble(end + word));
    CHECK_FALSE(ollama_chat().assemble(word + "{\n" + end));
    // One text in two models, content that is no text, a list where an object came before.
    CHECK_FALSE(ollama_chat().assemble(R"({"model":"other","message":{"content":"x"},"done":false})"
                                       "\n" +
                                       end));
    CHECK_FALSE(ollama_chat().assemble(R"({"message":{"content":7},"done":false})"
                                       "\n" +
                                       end));
    CHECK_FALSE(ollama_chat().assemble(R"({"message":{"content":"","x":{}},"done":false})"
                                       "\n"
                                       R"({"message":{"content":"","x":{}},"done":true})"
                                       "\n"));
    CHECK_FALSE(ollama_embed().assemble("{}"));
    CHECK_FALSE(ollama_embed().split("{}", false));
}

TEST_CASE("normalised output: words and calls, without ids, times and counts") {
    const auto words = ollama_chat().normalised(form::ndjson, stream);
    CHECK(
        words ==
        R"({"done_reason":"stop","role":"assistant","content":"The sky é東🙂","thinking":"Hm, \"why\"","tool_calls":[{"name":"f","arguments":{"b":1.5,"a":[]}}]})");
    CHECK(words == ollama_chat().normalised(form::json, *ollama_chat().assemble(stream)));
    CHECK(
        ollama_chat().normalised(
            form::json,
            R"({"model":"x","created_at":"y","message":{"tool_calls":[{"id":"other","function":{"arguments":{"b":1.50,"a":[]},"name":"f","index":3}}],"thinking":"Hm, \u0022why\"","content":"The sky \u00e9東🙂","role":"assistant"},"done":true,"done_reason":"stop","total_duration":1})") ==
        words);
    CHECK(ollama_generate().normalised(form::ndjson, piece + piece_end) ==
          R"({"done_reason":"length","content":"Hello"})");
    CHECK_FALSE(ollama_chat().normalised(form::json, "{}"));
    CHECK_FALSE(ollama_generate().normalised(form::json, R"({"message":{}})"));
}

TEST_CASE("embeddings: one vector for each input") {
    const auto of = [](std::string_view body, unsigned n) {
        return watch(ollama_embed(), form::json, body, true, n).refuse;
    };
    CHECK(of(R"({"model":"m","embeddings":[[0.1,2],[3,4]],"prompt_eval_count":8})", 2) == reason::none);
    CHECK(
        watch(ollama_embed(), form::json, R"({"model":"m","embeddings":[[1]],"prompt_eval_count":8})").tokens->input ==
        8);
    CHECK(of(R"({"embeddings":[[1]]})", 2) == reason::choice_unfinished);
    CHECK(of(R"({"embeddings":[]})", 1) == reason::no_choices);
    CHECK(of(R"({"embeddings":[[]]})", 1) == reason::answer_malformed);
    CHECK(of(R"({"embeddings":[["x"]]})", 1) == reason::answer_malformed);
    CHECK(of(R"({"error":"x"})", 1) == reason::error_in_answer);
    CHECK(watch(ollama_embeddings(), form::json, R"({"embedding":[1,2]})").refuse == reason::none);
    CHECK(watch(ollama_embeddings(), form::json, R"({"embedding":[]})").refuse == reason::no_choices);
    CHECK(ollama_embed().normalised(form::json, R"({"embeddings":[[1,-0.5]],"total_duration":9})") ==
          R"({"embeddings":["3f800000bf000000"]})");
}

TEST_CASE("errors are what Ollama's clients read") {
    CHECK(ollama_chat().error_body(503, reason::overloaded, "try \"later\"") ==
          R"({"error":"try \"later\"","code":"overloaded"})");
    CHECK(ollama_chat().error_event(reason::upstream_reset, "gone") ==
          "{\"error\":\"gone\",\"code\":\"upstream_reset\"}\n");
    CHECK(error_body("/api/tags", 502, reason::upstream_connect, "x") == R"({"error":"x","code":"upstream_connect"})");
}

namespace {

using rc::gen::arbitrary;

json::string any_text() {
    const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(
        std::vector<std::string>{"a", " ", "\"", "\\", "\n", "\r\n", "é", "東", "🙂", "\x01", "}", "{\"done\":true}"}));
    std::string out;
    for (const std::string& each : pieces) out += each;
    return json::string(out);
}
bool coin() {
    return *rc::gen::inRange(0, 2) == 1;
}
json::value any_calls() {
    json::array calls;
    for (int i = *rc::gen::inRange(0, 3); i > 0; --i)
        calls.push_back(json::object{
            {"function", json::object{{"name", any_text()}, {"arguments", json::object{{"x", any_text()}}}}}});
    return calls;
}

json::value any_object(bool chat) {
    json::object payload;
    if (chat) payload["role"] = "assistant";
    payload[chat ? "content" : "response"] = any_text();
    if (coin()) payload["thinking"] = coin() ? json::value(any_text()) : json::value(nullptr);
    if (coin()) payload["tool_calls"] = coin() ? any_calls() : json::value(nullptr);
    if (coin()) payload["unknown"] = json::array{any_text(), *arbitrary<int>()};
    json::object o{{"model", any_text()}, {"created_at", any_text()}};
    if (chat) {
        o["message"] = payload;
    } else {
        for (const auto& member : payload) o[member.key()] = member.value();
        if (coin()) o["context"] = json::array{1, 2, 3};
    }
    o["done"] = true;
    if (coin()) o["done_reason"] = coin() ? "stop" : "length";
    if (coin()) o["logprobs"] = coin() ? json::value(json::array{json::object{{"token", any_text()}}}) : nullptr;
    if (coin()) o["total_duration"] = *arbitrary<unsigned>();
    if (coin()) o["remote_model"] = any_text();
    return o;
}

}  // namespace

TEST_CASE("property: every object comes back from its lines, and they are a whole answer") {
    for (const bool chat : {true, false}) {
        const dialect& d = chat ? ollama_chat() : ollama_generate();
        CHECK(rc::check([&] {
            const json::value object = any_object(chat);
            const std::string text = json::serialize(object);
            const auto lines = d.split(text, false);
            RC_ASSERT(lines.has_value());
            RC_ASSERT(watch(d, form::ndjson, *lines).refuse == reason::none);
            const auto back = d.assemble(*lines);
            RC_ASSERT(back.has_value());
            RC_ASSERT(json::parse(*back) == object);
            RC_ASSERT(d.normalised(form::ndjson, *lines) == d.normalised(form::json, text));
        }));
    }
}

TEST_CASE("property: every stream comes back from its object as words") {
    CHECK(rc::check([] {
        std::string lines;
        for (int i = *rc::gen::inRange(0, 6); i > 0; --i) {
            json::object message{{"role", "assistant"}, {"content", any_text()}};
            if (coin()) message["thinking"] = any_text();
            if (coin()) message["tool_calls"] = any_calls();
            lines += json::serialize(json::object{
                         {"model", "m"}, {"created_at", any_text()}, {"message", message}, {"done", false}}) +
                     "\n";
        }
        lines += R"({"model":"m","created_at":"t","message":{"role":"assistant","content":""},"done":true})"
                 "\n";
        const auto object = ollama_chat().assemble(lines);
        RC_ASSERT(object.has_value());
        const auto again = ollama_chat().split(*object, false);
        RC_ASSERT(again.has_value());
        RC_ASSERT(ollama_chat().normalised(form::ndjson, *again) == ollama_chat().normalised(form::ndjson, lines));
    }));
}
