// SGLang's /generate and TGI's /generate, /generate_stream and /: who is meant, what is read, and the forms.
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

verdict watch(const dialect& d, form f, std::string_view body, unsigned choices = 1, bool framed = true) {
    call c;
    c.choices = choices;
    const auto w = d.watch(f, c);
    w->feed(body);
    return w->finish(framed);
}
std::string event(std::string_view data) {
    return "data: " + std::string(data) + "\n\n";
}
const std::string done = "data: [DONE]\n\n";

std::string result(std::string_view text, std::string_view ids, unsigned n, std::string_view finish = "null",
                   std::string_view index = "") {
    return "{" + (index.empty() ? std::string() : R"("index":)" + std::string(index) + ",") + R"("text":")" +
           std::string(text) + R"(","output_ids":)" + std::string(ids) + R"(,"meta_info":{"id":"a","finish_reason":)" +
           std::string(finish) + R"(,"prompt_tokens":3,"completion_tokens":)" + std::to_string(n) +
           R"(,"e2e_latency":0.50}})";
}
const std::string stop = R"({"type":"stop","matched":128009})";
const std::string sg_first = event(result("Hel", "[1]", 1));
const std::string sg_stream = sg_first + event(result("Hello é🙂", "[1,2]", 2, stop)) + done;

// As TGI 3 wrote them.
const std::string tgi_first =
    "data:{\"index\":1,\"token\":{\"id\":5,\"text\":\" "
    "a\",\"logprob\":-0.10,\"special\":false},\"generated_text\":null,"
    "\"details\":null}\n\n";
const std::string tgi_last =
    "data:{\"index\":2,\"token\":{\"id\":2,\"text\":\"</s>\",\"logprob\":-0.5,\"special\":true},\"generated_text\":\" "
    "a\",\"details\":{\"finish_reason\":\"eos_token\",\"generated_tokens\":2,\"seed\":null,\"input_length\":4}}\n\n";
const std::string tgi_bare =
    "data:{\"index\":2,\"token\":{\"id\":2,\"text\":\"</s>\",\"logprob\":-0.5,\"special\":true},\"generated_text\":\" "
    "a\",\"details\":null}\n\n";

}  // namespace

TEST_CASE("the body tells whose /generate it is") {
    const dialect* d = find("POST", "/generate");
    REQUIRE(d == &sglang_generate());
    CHECK(&d->meant("", R"({"text":"x"})") == &sglang_generate());
    CHECK(&d->meant("tgi", R"({"input_ids":[1]})") == &sglang_generate());
    CHECK(&d->meant("sglang", R"({"inputs":"x"})") == &tgi_generate());
    CHECK(&d->meant("", R"({"inp\u0075ts":"x"})") == &tgi_generate());
    CHECK(d->read(R"({"prompt":"x"})").bypass == reason::not_cacheable_path);
    CHECK(find("POST", "/generate_stream") == &tgi_generate_stream());
    CHECK(find("POST", "/") == &tgi_root());
    CHECK(find("GET", "/") == nullptr);
    CHECK(tgi_root().read(R"({"jsonrpc":"2.0"})").bypass == reason::not_cacheable_path);
}

TEST_CASE("SGLang's requests") {
    const auto read = [](std::string_view body) { return sglang_generate().read(body); };
    const call plain = read(R"({"text":"x"})");
    CHECK(plain.wanted == form::json);
    CHECK(plain.choices == 1);
    CHECK_FALSE(plain.greedy);
    CHECK_FALSE(plain.bypass);
    const call full = read(
        R"({"text":["a","b"],"stream":true,"sampling_params":{"n":2,"temperature":0,"max_new_tokens":5,"sampling_seed":3}})");
    CHECK(full.wanted == form::sse);
    CHECK(full.choices == 4);
    CHECK(full.greedy);
    CHECK(full.seeded);
    CHECK(full.limit_set);
    CHECK(read(R"({"input_ids":[1,2]})").choices == 1);
    CHECK(read(R"({"input_ids":[[1],[2]],"sampling_params":[{"temperature":0},{"temperature":1}]})").choices == 2);
    CHECK_FALSE(read(R"({"text":["a","b"],"sampling_params":[{"temperature":0},{"temperature":1}]})").greedy);
    CHECK(read(R"({"text":["a","b"],"sampling_params":[{"temperature":0},{"temperature":0}]})").greedy);
    CHECK(read(R"({"text":"x","session_params":{"id":"s"}})").bypass == reason::stateful_call);
    CHECK(read(R"({"text":"x","return_hidden_states":true})").bypass == reason::entry_too_large);
    CHECK_FALSE(read(R"({"text":"x","return_hidden_states":false})").bypass);
    CHECK(read(R"({"text":"x","extra_key":"t","cache_salt":"s"})").tenant == R"("extra_key":"t""cache_salt":"s")");
}

TEST_CASE("SGLang's answers: complete, cut, wrong") {
    const auto of = [](std::string_view body, unsigned n = 1) {
        return watch(sglang_generate(), form::sse, body, n).refuse;
    };
    CHECK(of(sg_stream) == reason::none);
    CHECK(watch(sglang_generate(), form::sse, sg_stream).tokens->output == 2);
    for (std::size_t cut = 0; cut < sg_stream.size(); ++cut) {
        CAPTURE(cut);
        CHECK(of(std::string_view(sg_stream).substr(0, cut)) != reason::none);
    }
    CHECK(of(sg_first) == reason::terminal_missing);
    CHECK(of(sg_first + done) == reason::choice_unfinished);
    CHECK(of(sg_stream, 2) == reason::choice_unfinished);
    CHECK(of(done) == reason::no_choices);
    CHECK(of(sg_first + event(R"({"error":{"message":"x"}})") + done) == reason::error_in_answer);
    CHECK(of(event(result("x", "[1]", 1, R"({"type":"abort","message":"x"})")) + done) == reason::error_in_answer);
    CHECK(watch(sglang_generate(), form::sse, event(result("x", "[1]", 1, R"({"type":"length","length":1})")) + done)
              .length_limited);
    CHECK(of(sg_stream + sg_first) == reason::answer_malformed);
    CHECK(of(event("{}") + sg_stream) == reason::answer_malformed);
    const std::string one = result("x", "[1]", 1, stop);
    CHECK(watch(sglang_generate(), form::json, one).refuse == reason::none);
    CHECK(watch(sglang_generate(), form::json, "[" + one + "," + one + "]", 2).refuse == reason::none);
    CHECK(watch(sglang_generate(), form::json, "[" + one + "]", 2).refuse == reason::choice_unfinished);
    CHECK(watch(sglang_generate(), form::json, "[]").refuse == reason::no_choices);
    CHECK(watch(sglang_generate(), form::json, result("x", "[1]", 1)).refuse == reason::choice_unfinished);
    CHECK(watch(sglang_generate(), form::json, R"({"error":{}})").refuse == reason::error_in_answer);
}

TEST_CASE("SGLang: cumulative events, and the forms") {
    CHECK(sglang_generate().assemble(sg_stream) == result("Hello é🙂", "[1,2]", 2, stop));
    CHECK(sglang_generate().split(result("hi", "[1]", 1, stop), true) == event(result("hi", "[1]", 1, stop)) + done);
    const std::string list = "[" + result("a", "[1]", 1, stop) + "," + result("b", "[2]", 1, stop) + "]";
    CHECK(sglang_generate().split(list, true) ==
          event(result("a", "[1]", 1, stop, "0")) + event(result("b", "[2]", 1, stop, "1")) + done);
    CHECK(sglang_generate().assemble(event(result("b", "[2]", 1, stop, "1")) + event(result("a", "[1]", 1, stop, "0")) +
                                     done) == list);
    CHECK(sglang_generate().assemble(event(result("a", "[1]", 1, stop, "0")) + done) ==
          "[" + result("a", "[1]", 1, stop) + "]");
    CHECK(sglang_generate().normalised(form::sse, sg_stream) ==
          R"({"text":"Hello é🙂","output_ids":[1,2],"finish_reason":"stop","matched":128009})");
    CHECK_FALSE(sglang_generate().assemble(event(R"({"text":"x"})") + done));
    const auto no = [](std::string_view object) { return !sglang_generate().split(object, false); };
    CHECK(no("[]"));
    CHECK(no("{}"));
    CHECK(no(R"({"text":7,"meta_info":{}})"));
    CHECK(no(R"({"text":"x","index":0,"meta_info":{}})"));
    CHECK(no("7"));
}

TEST_CASE("SGLang: a server that sends pieces is read, and not converted") {
    const std::string pieces =
        event(result("ha", "[1]", 1)) + event(result("haha", "[1,1]", 3, stop)) + done;  // "hahaha", not "haha"
    CHECK(watch(sglang_generate(), form::sse, pieces).refuse == reason::none);
    CHECK_FALSE(sglang_generate().assemble(pieces));
    CHECK(sglang_generate().normalised(form::sse, pieces) ==
          R"({"text":"hahaha","output_ids":[1,1,1],"finish_reason":"stop","matched":128009})");
    CHECK_FALSE(sglang_generate().assemble(event(result("ab", "[1]", 1)) + event(result("c", "[2]", 2, stop)) + done));
}

TEST_CASE("TGI's requests") {
    const auto read = [](std::string_view body) { return tgi_generate().read(body); };
    CHECK(read(R"({"inputs":"x"})").greedy);
    CHECK(read(R"({"inputs":"x","stream":true})").wanted == form::json);
    CHECK(tgi_generate_stream().read(R"({"inputs":"x"})").wanted == form::sse);
    CHECK(tgi_root().read(R"({"inputs":"x","stream":true})").wanted == form::sse);
    CHECK(tgi_root().read(R"({"inputs":"x"})").wanted == form::json);
    CHECK_FALSE(read(R"({"inputs":"x","parameters":{"do_sample":true}})").greedy);
    CHECK_FALSE(read(R"({"inputs":"x","parameters":{"temperature":0.5}})").greedy);
    CHECK(read(R"({"inputs":"x","parameters":{"temperature":null,"do_sample":false,"best_of":1}})").greedy);
    CHECK(read(R"({"inputs":"x","parameters":{"seed":1,"max_new_tokens":9}})").limit_set);
    CHECK(read(R"({"inputs":"x","parameters":{"seed":1}})").seeded);
}

TEST_CASE("TGI's answers: complete, cut, wrong") {
    const std::string stream = tgi_first + tgi_last;
    const auto of = [](std::string_view body) { return watch(tgi_generate_stream(), form::sse, body).refuse; };
    CHECK(of(stream) == reason::none);
    CHECK_FALSE(watch(tgi_generate_stream(), form::sse, stream).length_limited);
    CHECK(watch(tgi_generate_stream(), form::sse, stream).tokens->input == 4);
    CHECK(watch(tgi_generate_stream(), form::sse, tgi_first + tgi_bare).length_limited);  // nobody says why it ended
    for (std::size_t cut = 0; cut < stream.size(); ++cut) {
        CAPTURE(cut);
        CHECK(of(std::string_view(stream).substr(0, cut)) != reason::none);
    }
    CHECK(of(tgi_first) == reason::terminal_missing);
    CHECK(of(tgi_first + "data:{\"error\":\"overloaded\",\"error_type\":\"x\"}\n\n") == reason::error_in_answer);
    CHECK(of(stream + tgi_first) == reason::answer_malformed);
    CHECK(of("data:{}\n\n" + stream) == reason::answer_malformed);
    const auto object = [](std::string_view body) { return watch(tgi_generate(), form::json, body).refuse; };
    CHECK(object(R"({"generated_text":"x"})") == reason::none);
    CHECK(watch(tgi_generate(), form::json, R"({"generated_text":"x"})").length_limited);
    CHECK_FALSE(watch(tgi_generate(), form::json,
                      R"({"generated_text":"x","details":{"finish_reason":"eos_token","generated_tokens":1}})")
                    .length_limited);
    CHECK(object(R"([{"generated_text":"x"}])") == reason::none);
    CHECK(object("[]") == reason::no_choices);
    CHECK(object(R"([{"label":"x"}])") == reason::answer_malformed);
    CHECK(object(R"([{"error":"x"}])") == reason::error_in_answer);
    CHECK(object(R"({"error":"x","error_type":"y"})") == reason::error_in_answer);
}

TEST_CASE("TGI: a token that is missing is noticed by its number") {
    const auto token = [](int index, std::string_view rest = "") {
        return R"(data:{"index":)" + std::to_string(index) + R"(,"token":{"id":5,"text":"x"})" + std::string(rest) +
               "}\n\n";
    };
    const std::string end = R"(,"generated_text":"xx")";
    const auto of = [](const std::string& body) { return watch(tgi_generate_stream(), form::sse, body).refuse; };
    CHECK(of(token(1) + token(2, end)) == reason::none);
    CHECK(of(token(0) + token(1, end)) == reason::none);
    CHECK(of(token(1) + token(3, end)) == reason::answer_malformed);
    CHECK(of(token(1) + token(1, end)) == reason::answer_malformed);
}

TEST_CASE("TGI: a stream of / becomes its object, everything else stays what it is") {
    CHECK(
        tgi_root().assemble(tgi_first + tgi_last) ==
        R"([{"generated_text":" a","details":{"finish_reason":"eos_token","generated_tokens":2,"seed":null,"prefill":[],"tokens":[{"id":5,"text":" a","logprob":-0.10,"special":false},{"id":2,"text":"</s>","logprob":-0.5,"special":true}]}}])");
    CHECK(tgi_root().assemble(tgi_first + tgi_bare) == R"([{"generated_text":" a"}])");
    CHECK_FALSE(tgi_root().assemble(tgi_first));
    CHECK_FALSE(tgi_root().assemble("data:{\"index\":1,\"token\":{},\"news\":1,\"generated_text\":\"a\"}\n\n"));
    CHECK_FALSE(tgi_root().split(R"([{"generated_text":"x"}])", false));
    CHECK_FALSE(tgi_generate_stream().assemble(tgi_first + tgi_last));
    CHECK_FALSE(tgi_generate().split(R"({"generated_text":"x"})", false));
    CHECK(tgi_root().normalised(form::sse, tgi_first + tgi_last) ==
          tgi_root().normalised(form::json, *tgi_root().assemble(tgi_first + tgi_last)));
    CHECK(tgi_generate().normalised(form::json, R"({"generated_text":""})") == R"({"generated_text":""})");
    CHECK(tgi_generate().error_body(429, reason::overloaded, "x") ==
          R"({"error":"x","error_type":"overloaded","code":"overloaded"})");
}

TEST_CASE("property: SGLang's results come back from their stream") {
    CHECK(rc::check([] {
        const int n = *rc::gen::inRange(0, 4);
        const auto one = [] {
            json::object o{{"text", *rc::gen::string<std::string>() == "" ? "" : "é\n\"x"}};
            if (*rc::gen::inRange(0, 2) == 1) o["output_ids"] = json::array{1, 2};
            o["meta_info"] = json::object{{"finish_reason", json::object{{"type", "stop"}}}, {"completion_tokens", 2}};
            return o;
        };
        json::value object = one();
        if (n > 0) {
            json::array list;
            for (int i = 0; i < n; ++i) list.push_back(one());
            object = list;
        }
        const std::string text = json::serialize(object);
        const auto events = sglang_generate().split(text, false);
        RC_ASSERT(events.has_value());
        RC_ASSERT(watch(sglang_generate(), form::sse, *events, static_cast<unsigned>(std::max(n, 1))).refuse ==
                  reason::none);
        const auto back = sglang_generate().assemble(*events);
        RC_ASSERT(back.has_value());
        RC_ASSERT(json::parse(*back) == object);
        RC_ASSERT(sglang_generate().normalised(form::sse, *events) == sglang_generate().normalised(form::json, text));
    }));
}
