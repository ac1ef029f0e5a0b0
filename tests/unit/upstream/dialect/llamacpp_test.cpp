// llama.cpp's own API, reranking and tokenising: what is read, when an answer is complete, and its two forms.
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

call read(std::string_view body) {
    return llamacpp_completion().read(body);
}

verdict watch(const dialect& d, form f, std::string_view body, unsigned choices = 1, bool framed = true) {
    call c;
    c.choices = choices;
    const auto w = d.watch(f, c);
    w->feed(body);
    return w->finish(framed);
}
reason stream_verdict(std::string_view body, unsigned choices = 1, bool framed = true) {
    return watch(llamacpp_completion(), form::sse, body, choices, framed).refuse;
}
reason object_verdict(std::string_view body, unsigned choices = 1, bool framed = true) {
    return watch(llamacpp_completion(), form::json, body, choices, framed).refuse;
}

std::string event(std::string_view data) {
    return "data: " + std::string(data) + "\n\n";
}

// As llama-server b11434 wrote them, but for most of the settings.
const std::string first = event(
    R"({"index":0,"content":" saka","tokens":[394],"stop":false,"id_slot":-1,"tokens_predicted":1,"tokens_evaluated":7,"completion_probabilities":[{"id":394,"token":" saka","logprob":-0.7002938985824585}]})");
const std::string second = event(
    R"({"index":0,"content":" mi\"é🙂","tokens":[377],"stop":false,"id_slot":-1,"tokens_predicted":2,"tokens_evaluated":7,"completion_probabilities":[{"id":377,"token":" mi","logprob":-0.30}]})");
const std::string last = event(
    R"({"index":0,"content":"","tokens":[],"id_slot":1,"stop":true,"model":"tiny","tokens_predicted":2,"tokens_evaluated":7,"generation_settings":{"seed":4294967295,"temperature":0.0,"stream":true,"stop":[]},"prompt":"<s> ka lo","truncated":false,"stop_type":"limit","stopping_word":"","tokens_cached":9,"timings":{"prompt_ms":0.512}})");
const std::string stream = first + second + last;

std::string of_index(std::string text, int index) {
    for (std::size_t at = 0; (at = text.find("\"index\":0", at)) != std::string::npos; ++at)
        text.replace(at, 9, "\"index\":" + std::to_string(index));
    return text;
}

}  // namespace

TEST_CASE("calls find their dialect; short paths of two APIs by engine") {
    CHECK(find("POST", "/completion") == &llamacpp_completion());
    CHECK(find("POST", "/infill") == &llamacpp_infill());
    CHECK(find("POST", "/embedding") == &llamacpp_embedding());
    CHECK(find("POST", "/rerank") == &rerank_documents());
    CHECK(find("POST", "/v1/rerank") == &rerank_documents());
    CHECK(find("POST", "/reranking") == &rerank_documents());
    CHECK(find("POST", "/tokenize") == &tokenize_text());
    CHECK(find("POST", "/slots/0") == nullptr);
    CHECK(find("POST", "/props") == nullptr);
    CHECK(find("POST", "/lora-adapters") == nullptr);

    const dialect* completions = find("POST", "/completions");
    REQUIRE(completions);
    CHECK(completions->shares_path());
    CHECK(&completions->meant("llamacpp", "{}") == &llamacpp_completion());
    CHECK(&completions->meant("vllm", "{}") == completions);
    CHECK(completions->name() == openai_completions().name());
    CHECK(completions->normal_path() != openai_completions().normal_path());
    CHECK_FALSE(openai_completions().shares_path());

    const dialect* embeddings = find("POST", "/embeddings");
    REQUIRE(embeddings);
    CHECK(&embeddings->meant("llamacpp", R"({"input":"x"})") == &llamacpp_embedding());
    CHECK(&embeddings->meant("", R"({"content":"x"})") == &llamacpp_embedding());
    CHECK(&embeddings->meant("", R"({"input":"x"})") == embeddings);
    CHECK(&embeddings->meant("generic", R"({"input":"x","content":"y"})") == embeddings);
    CHECK(&embeddings->meant("", "{\"content\":") == embeddings);
}

TEST_CASE("requests: forms, results, sampling") {
    const call plain = read(R"({"prompt":"x"})");
    CHECK(plain.wanted == form::json);
    CHECK(plain.choices == 1);
    CHECK(plain.model.empty());
    CHECK_FALSE(plain.bypass);
    CHECK_FALSE(plain.limit_set);
    const call full =
        read(R"({"prompt":["a",[1,2]],"n_cmpl":3,"stream":true,"n_predict":5,"seed":1,"temperature":0,"model":"m"})");
    CHECK(full.wanted == form::sse);
    CHECK(full.choices == 6);
    CHECK(full.limit_set);
    CHECK(full.seeded);
    CHECK(full.greedy);
    CHECK(full.model == "m");
    CHECK(read(R"({"prompt":[1,2,"x"]})").choices == 1);  // one prompt of tokens and text
    CHECK_FALSE(read(R"({"prompt":"x","seed":-1})").seeded);
    CHECK_FALSE(read(R"({"prompt":"x","seed":4294967295})").seeded);
    CHECK_FALSE(read(R"({"prompt":"x","n_predict":-1})").limit_set);
    CHECK(read(R"({"prompt":"x","temperature":-1})").greedy);
    CHECK(read(R"({"prompt":"x","t_max_predict_ms":100})").bypass == reason::time_dependent_call);
    CHECK_FALSE(read(R"({"prompt":"x","t_max_predict_ms":0})").bypass);
    CHECK(read(R"({"prompt":"x","n_predict":0})").bypass == reason::no_generation);
    CHECK(llamacpp_embedding().read(R"({"content":["a","b"]})").choices == 2);
    CHECK(llamacpp_embedding().read(R"({"input":"a"})").greedy);
}

TEST_CASE("a whole stream is good, and says model and tokens") {
    const verdict v = watch(llamacpp_completion(), form::sse, stream);
    CHECK(v.refuse == reason::none);
    CHECK(v.model == "tiny");
    CHECK(v.tokens->input == 7);
    CHECK(v.tokens->output == 2);
    CHECK(v.length_limited);
    CHECK(stream_verdict(": ping\n\n" + stream) == reason::none);
    CHECK(stream_verdict(event("null") + of_index(stream, 1) + event("null") + stream, 2) == reason::none);
    CHECK(llamacpp_completion().assemble(event("null") + stream) == llamacpp_completion().assemble(stream));
    CHECK(stream_verdict(first + of_index(stream, 1) + second + last, 2) == reason::none);
}

TEST_CASE("a stream that is cut anywhere is refused, and byte by byte changes nothing") {
    for (std::size_t cut = 0; cut < stream.size(); ++cut) {
        CAPTURE(cut);
        CHECK(stream_verdict(std::string_view(stream).substr(0, cut)) != reason::none);
        CHECK(stream_verdict(std::string_view(stream).substr(0, cut), 1, false) == reason::framing_incomplete);
    }
    const auto w = llamacpp_completion().watch(form::sse, {});
    for (const char c : stream) w->feed(std::string_view(&c, 1));
    CHECK(w->boundary() == stream.size());
    CHECK(w->finish(true).refuse == reason::none);
}

TEST_CASE("what is wrong with a stream is named") {
    CHECK(stream_verdict("") == reason::terminal_missing);
    CHECK(stream_verdict(first) == reason::terminal_missing);
    CHECK(stream_verdict(stream, 2) == reason::terminal_missing);
    CHECK(stream_verdict(of_index(stream, 1)) == reason::terminal_missing);
    CHECK(stream_verdict(first + event(R"({"error":{"code":500,"message":"x"}})") + last) == reason::error_in_answer);
    CHECK(stream_verdict(first + "event: error\ndata: x\n\n" + last) == reason::error_in_answer);
    CHECK(stream_verdict(first + "error: {\"code\":500}\n\n") == reason::terminal_missing);  // older builds
    CHECK(stream_verdict(first + event(R"({"content":""})")) == reason::terminal_missing);   // response_fields
    CHECK(stream_verdict(stream + first) == reason::answer_malformed);
    CHECK(stream_verdict(stream + "data: x") == reason::answer_malformed);
    CHECK(stream_verdict(event(R"({"content":7,"stop":true})")) == reason::answer_malformed);
}

TEST_CASE("objects and lists: good, cut, unfinished") {
    const std::string good = *llamacpp_completion().assemble(stream);
    CHECK(object_verdict(good) == reason::none);
    CHECK(object_verdict(good, 1, false) == reason::framing_incomplete);
    for (std::size_t cut = 0; cut < good.size(); ++cut)
        CHECK(object_verdict(std::string_view(good).substr(0, cut)) == reason::answer_malformed);
    CHECK(object_verdict("[" + good + "," + of_index(good, 1) + "]", 2) == reason::none);
    CHECK(object_verdict("[" + good + "]", 2) == reason::choice_unfinished);
    CHECK(object_verdict("[]") == reason::no_choices);
    CHECK(object_verdict("[7]") == reason::answer_malformed);
    CHECK(object_verdict("7") == reason::answer_malformed);
    CHECK(object_verdict(R"({"content":"x"})") == reason::choice_unfinished);
    CHECK(object_verdict(R"({"error":{"message":"x"}})") == reason::error_in_answer);
}

TEST_CASE("a stream becomes the object, raw tokens kept: golden") {
    CHECK(
        llamacpp_completion().assemble(stream) ==
        R"({"index":0,"content":" saka mi\"é🙂","tokens":[394,377],"id_slot":1,"stop":true,"model":"tiny","tokens_predicted":2,"tokens_evaluated":7,"generation_settings":{"seed":4294967295,"temperature":0.0,"stream":false,"stop":[]},"prompt":"<s> ka lo","truncated":false,"stop_type":"limit","stopping_word":"","tokens_cached":9,"timings":{"prompt_ms":0.512},"completion_probabilities":[{"id":394,"token":" saka","logprob":-0.7002938985824585},{"id":377,"token":" mi","logprob":-0.30}]})");
    const auto both = llamacpp_completion().assemble(first + of_index(first + second + last, 1) + second + last);
    REQUIRE(both);
    const json::value list = json::parse(*both);
    CHECK(list.at(1).at("index") == 1);
    CHECK(list.at(0).at("content") == list.at(1).at("content"));
}

TEST_CASE("an object becomes a stream: golden") {
    const std::string object =
        R"({"index":0,"content":"hi","tokens":[7],"id_slot":1,"stop":true,"tokens_predicted":1,"tokens_evaluated":2,"generation_settings":{"stream":false},"stop_type":"eos"})";
    CHECK(
        llamacpp_completion().split(object, true) ==
        event(
            R"({"index":0,"content":"hi","tokens":[7],"stop":false,"id_slot":1,"tokens_predicted":1,"tokens_evaluated":2})") +
            event(
                R"({"index":0,"content":"","tokens":[],"id_slot":1,"stop":true,"tokens_predicted":1,"tokens_evaluated":2,"generation_settings":{"stream":true},"stop_type":"eos"})"));
    CHECK(llamacpp_completion().split(R"({"content":"","stop":true})", false) ==
          event(R"({"content":"","stop":true})"));
}

TEST_CASE("what would lose something is not converted") {
    const auto no = [](std::string_view object) { return !llamacpp_completion().split(object, true); };
    CHECK(no(""));
    CHECK(no("7"));
    CHECK(no("[]"));
    CHECK(no(R"([{"index":0,"content":"x","stop":true}])"));
    CHECK(no(R"([{"index":1,"content":"x","stop":true},{"index":0,"content":"x","stop":true}])"));
    CHECK(no(R"({"content":"x"})"));
    CHECK(no(R"({"content":"x","tokens":[],"stop":true})"));  // a stream has token ids
    CHECK(no(R"({"content":7,"stop":true})"));
    CHECK(no(R"({"content":"x","stop":true,"tokens":7})"));
    CHECK(no(R"({"content":"x","stop":true,"model":"a","model":"b"})"));
    CHECK(no(R"({"content":"x","stop":true,"error":{}})"));
    CHECK(no(R"({"content":"x","stop":true,"generation_settings":{"stream":true}})"));
    const auto lost = [](const std::string& body) { return !llamacpp_completion().assemble(body); };
    CHECK(lost(first + second));
    CHECK(lost(of_index(stream, 1)));
    CHECK(lost(event(R"({"content":"x","news":1,"stop":false})") + last));
    CHECK(lost(first + event(R"({"error":{"message":"x"}})") + last));
    CHECK(lost(stream + last));
}

TEST_CASE("normalised output: text and why it ended") {
    CHECK(llamacpp_completion().normalised(form::sse, stream) == R"({"content":" saka mi\"é🙂","stop_type":"limit"})");
    CHECK(llamacpp_completion().normalised(
              form::json, R"([{"content":"\u0061","tokens":[1]},{"content":"b","stopping_word":"."}])") ==
          R"([{"content":"a"},{"content":"b","stopping_word":"."}])");
    CHECK_FALSE(llamacpp_completion().normalised(form::json, "7"));
}

TEST_CASE("embeddings: a list with one vector, or one for each token, for each input") {
    const auto of = [](std::string_view body, unsigned n = 1) {
        return watch(llamacpp_embedding(), form::json, body, n).refuse;
    };
    CHECK(of(R"([{"index":0,"embedding":[[0.12,0.2]]}])") == reason::none);
    CHECK(of(R"([{"index":0,"embedding":[0.12]},{"index":1,"embedding":[[1],[2]]}])", 2) == reason::none);
    CHECK(of(R"([{"index":0,"embedding":[[0.12]]}])", 2) == reason::choice_unfinished);
    CHECK(of("[]") == reason::no_choices);
    CHECK(of(R"([{"index":0,"embedding":[[]]}])") == reason::answer_malformed);
    CHECK(of(R"([{"index":0}])") == reason::answer_malformed);
    CHECK(of("{}") == reason::answer_malformed);
    CHECK(of(R"({"error":{}})") == reason::error_in_answer);
    CHECK(llamacpp_embedding().normalised(form::json, R"([{"index":0,"embedding":[[1.0,-5e-1]]}])") ==
          R"([["3f800000bf000000"]])");
}

TEST_CASE("reranking: a list of indices with scores, alone or as results") {
    const auto of = [](std::string_view body) { return watch(rerank_documents(), form::json, body).refuse; };
    const std::string good =
        R"({"model":"r","object":"list","usage":{"prompt_tokens":9,"total_tokens":9},"results":[{"index":1,"relevance_score":0.5},{"index":0,"relevance_score":-1}]})";
    CHECK(of(good) == reason::none);
    CHECK(watch(rerank_documents(), form::json, good).tokens->input == 9);
    CHECK(of(R"([{"index":0,"score":0.5,"document":"x"}])") == reason::none);
    CHECK(of(R"({"results":[]})") == reason::no_choices);
    CHECK(of(R"({"results":[{"index":0}]})") == reason::answer_malformed);
    CHECK(of(R"({"results":{}})") == reason::answer_malformed);
    CHECK(of(R"([{"index":9,"score":1},{"index":9,"score":2}])") == reason::answer_malformed);
    CHECK(of(R"({"error":{}})") == reason::error_in_answer);
    CHECK(rerank_documents().normalised(form::json, good) == R"([{"index":1,"score":0.5},{"index":0,"score":-1}])");
    CHECK(rerank_documents().read(R"({"query":"q","documents":["a"],"cache_salt":"t"})").tenant ==
          R"("cache_salt":"t")");
}

TEST_CASE("tokenising: every engine's answer is a list of tokens") {
    const auto of = [](std::string_view body) { return watch(tokenize_text(), form::json, body).refuse; };
    CHECK(of(R"({"tokens":[1,2]})") == reason::none);
    CHECK(of(R"({"tokens":[]})") == reason::none);
    CHECK(of(R"({"count":2,"max_model_len":9,"tokens":[1,2],"token_strs":null})") == reason::none);
    CHECK(of(R"([{"id":1,"text":"a","start":0,"stop":1}])") == reason::none);
    CHECK(of("{}") == reason::answer_malformed);
    CHECK(of(R"({"tokens":[1,null]})") == reason::answer_malformed);
    CHECK(of(R"({"error":{}})") == reason::error_in_answer);
    CHECK(tokenize_text().normalised(form::json, R"({"count":2,"tokens":[1, 2]})") == "[1,2]");
}

TEST_CASE("errors are OpenAI's") {
    CHECK(llamacpp_completion().error_body(503, reason::overloaded, "x") ==
          R"({"error":{"message":"x","type":"server_error","param":null,"code":"overloaded"}})");
    CHECK(llamacpp_completion().error_event(reason::upstream_reset, "x").starts_with("data: {\"error\":"));
}

namespace {

json::string any_text() {
    const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(
        std::vector<std::string>{"a", " ", "\"", "\\", "\n", "é", "🙂", "data: [DONE]", "\x01", "}"}));
    std::string out;
    for (const std::string& each : pieces) out += each;
    return json::string(out);
}
bool coin() {
    return *rc::gen::inRange(0, 2) == 1;
}
json::value any_result(int index) {
    json::object o{{"index", index}, {"content", any_text()}};
    if (coin() || !o["content"].as_string().empty()) o["tokens"] = json::array{1, 2};
    o["stop"] = true;
    if (coin()) o["id_slot"] = 1;
    if (coin()) o["generation_settings"] = json::object{{"seed", 1}, {"stream", false}, {"stop", json::array{}}};
    if (coin()) o["completion_probabilities"] = coin() ? json::array{json::object{{"id", 1}}} : json::array{};
    if (coin()) o["unknown"] = any_text();
    if (coin()) o["stop_type"] = "eos";
    return o;
}

}  // namespace

TEST_CASE("property: every object comes back from its stream, and that is a whole answer") {
    CHECK(rc::check([] {
        const int n = *rc::gen::inRange(1, 4);
        json::array results;
        for (int i = 0; i < n; ++i) results.push_back(any_result(i));
        const json::value object = n == 1 ? results[0] : json::value(results);
        const std::string text = json::serialize(object);
        const auto events = llamacpp_completion().split(text, false);
        RC_ASSERT(events.has_value());
        RC_ASSERT(stream_verdict(*events, static_cast<unsigned>(n)) == reason::none);
        const auto back = llamacpp_completion().assemble(*events);
        RC_ASSERT(back.has_value());
        RC_ASSERT(json::parse(*back) == object);
        RC_ASSERT(llamacpp_completion().normalised(form::sse, *events) ==
                  llamacpp_completion().normalised(form::json, text));
    }));
}
