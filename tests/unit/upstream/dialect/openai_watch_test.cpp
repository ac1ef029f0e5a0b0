#include "upstream/dialect/openai_watch.hpp"

#include <doctest/doctest.h>

#include <string>

#include "upstream/dialect/registry.hpp"
#include "upstream/dialect/sse.hpp"

using namespace idem;
using namespace idem::upstream::dialect;

namespace {

call expecting(unsigned choices) {
    call c;
    c.choices = choices;
    return c;
}

verdict watch(const dialect& d, form f, std::string_view body, unsigned choices = 1, bool framed = true) {
    const auto w = d.watch(f, expecting(choices));
    w->feed(body);
    return w->finish(framed);
}

reason stream_verdict(std::string_view body, unsigned choices = 1, bool framed = true) {
    return watch(openai_chat(), form::sse, body, choices, framed).refuse;
}

reason object_verdict(std::string_view body, unsigned choices = 1, bool framed = true) {
    return watch(openai_chat(), form::json, body, choices, framed).refuse;
}

const std::string role =
    R"(data: {"id":"1","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]})"
    "\n\n";
const std::string text =
    R"(data: {"id":"1","model":"m","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]})"
    "\n\n";
const std::string stop = R"(data: {"id":"1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"
                         "\n\n";
const std::string tokens = R"(data: {"id":"1","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}})"
                           "\n\n";
const std::string done = "data: [DONE]\n\n";

std::string finish(std::string_view why) {
    return R"(data: {"choices":[{"index":0,"delta":{},"finish_reason":")" + std::string(why) + "\"}]}\n\n";
}

}  // namespace

TEST_CASE("a whole stream is good, and says model and tokens") {
    const verdict v = watch(openai_chat(), form::sse, role + text + stop + tokens + done);
    CHECK(v.refuse == reason::none);
    CHECK(v.model == "m");
    REQUIRE(v.tokens);
    CHECK(v.tokens->input == 3);
    CHECK(v.tokens->output == 2);
    CHECK_FALSE(v.length_limited);
}

TEST_CASE("a stream that is cut anywhere is refused") {
    const std::string stream = role + text + stop + tokens + done;
    for (std::size_t cut = 0; cut < stream.size(); ++cut) {
        CAPTURE(cut);
        CHECK(stream_verdict(std::string_view(stream).substr(0, cut)) != reason::none);
        CHECK(stream_verdict(std::string_view(stream).substr(0, cut), 1, false) != reason::none);
    }
    CHECK(stream_verdict(stream, 1, false) == reason::framing_incomplete);
}

TEST_CASE("what is missing is named") {
    CHECK(stream_verdict("") == reason::terminal_missing);
    CHECK(stream_verdict(role + text + stop) == reason::terminal_missing);
    CHECK(stream_verdict(role + text + done) == reason::choice_unfinished);
    CHECK(stream_verdict(done) == reason::no_choices);
    CHECK(stream_verdict(role + text + stop + done, 2) == reason::choice_unfinished);
    CHECK(stream_verdict(role + finish("") + done) == reason::choice_unfinished);
    CHECK(stream_verdict(finish("content_filter") + done) == reason::content_filtered);
    CHECK(stream_verdict(finish("abort") + done) == reason::error_in_answer);
    CHECK(watch(openai_chat(), form::sse, finish("length") + done).length_limited);
    CHECK(watch(openai_chat(), form::sse, finish("length") + done).refuse == reason::none);
    for (const auto* unknown : {"some_new_reason", "model_length", "timeout", "cancelled"}) {
        CHECK(stream_verdict(finish(unknown) + done) == reason::answer_truncated);
        CHECK(object_verdict(R"({"choices":[{"message":{},"finish_reason":")" + std::string(unknown) + "\"}]}") ==
              reason::answer_truncated);
    }
    for (const auto* known : {"stop", "tool_calls", "function_call", "eos", "eos_token", "stop_sequence", "end_turn"})
        CHECK(stream_verdict(finish(known) + done) == reason::none);
}

TEST_CASE("an error inside a choice is an error") {
    CHECK(object_verdict(R"({"choices":[{"message":{},"finish_reason":"stop","error":{"code":502}}]})") ==
          reason::error_in_answer);
    CHECK(object_verdict(R"({"choices":[{"message":{},"finish_reason":"stop","error":null}]})") == reason::none);
    CHECK(stream_verdict(R"(data: {"choices":[{"index":0,"delta":{},"error":{"code":502}}]})"
                         "\n\n" +
                         stop + done) == reason::error_in_answer);
}

TEST_CASE("an answer in which a name comes twice has no one meaning") {
    for (const auto* twice :
         {R"({"id":"a","id":"b","choices":[{"message":{},"finish_reason":"stop"}]})",
          R"({"choices":[{"message":{},"finish_reason":"stop","finish_reason":null}]})",
          R"({"choices":[{"message":{"content":"A","content":"B"},"finish_reason":"stop"}]})",
          R"({"choices":[{"message":{"content":"A","cont\u0065nt":"B"},"finish_reason":"stop"}]})",
          R"({"choices":[{"message":{"tool_calls":[{"function":{"name":"a","name":"b"}}]},"finish_reason":"stop"}]})"})
        CHECK(object_verdict(twice) == reason::answer_malformed);
    std::string many = R"({"choices":[{"message":{},"finish_reason":"stop"}])";
    for (int i = 0; i < 100; ++i) many += ",\"m" + std::to_string(i) + "\":1";
    CHECK(object_verdict(many + "}") == reason::none);
    CHECK(object_verdict(many + R"(,"m50":2})") == reason::answer_malformed);
    CHECK(stream_verdict(R"(data: {"choices":[{"index":0,"delta":{"content":"A","content":"B"}}]})"
                         "\n\n" +
                         stop + done) == reason::answer_malformed);
}

TEST_CASE("what ends too early is cut, however well it is framed") {
    const auto cut = [](form f, std::string_view body) { return watch(openai_chat(), f, body).cut; };
    const std::string object =
        R"({"choices":[{"message":{"content":"x\u00e4"},"finish_reason":"stop"}],"n":[1.5,true]})";
    for (std::size_t size = 0; size < object.size(); ++size) CHECK(cut(form::json, object.substr(0, size)));
    CHECK_FALSE(cut(form::json, object));
    // Whole, if not what is expected or can be read.
    for (const auto* whole : {"{}", "[]", "1", "\"x\"", R"({"a":99999999999999999999999})", R"({"a":1,"a":2})",
                              R"({"a":NaN})", R"({"a":-Infinity,"b":1e400})", R"({"a":"\ud83d"})", "{\"a\":\"\xff\"}",
                              "{} x", "\xEF\xBB\xBF{}", R"({"a":"}"]})", "<html>"})
        CHECK_FALSE(cut(form::json, whole));
    CHECK(cut(form::sse, ""));
    CHECK(cut(form::sse, role + text));
    CHECK_FALSE(cut(form::sse, role + text + stop));  // there are servers that write no [DONE]
    CHECK_FALSE(cut(form::sse, role + text + done));
    CHECK_FALSE(cut(form::sse, role + "data: {\"error\":{}}\n\n"));
}

TEST_CASE("usage is left out with its event, or alone where the event says more") {
    const auto without = [](const std::string& stream) {
        const auto w = openai_chat().watch(form::sse, expecting(1));
        w->feed(stream);
        std::string left = stream;
        if (const auto range = w->usage_event())
            left.erase(static_cast<std::size_t>(range->offset), static_cast<std::size_t>(range->size));
        return left;
    };
    CHECK(without(role + text + stop + tokens + done) == role + text + stop + done);
    const auto last = [](std::string_view usage, std::string_view end = "\n\n") {
        return R"(data: {"id":"1","choices":[])" + std::string(usage) + R"(,"timings":{"n":1}})" + std::string(end);
    };
    CHECK(without(role + stop + last(R"(,"usage":{"prompt_tokens":3})") + done) == role + stop + last("") + done);
    CHECK(without(role + stop + last(R"( , "usage" : {"a":1} )", "\r\n\r\n") + done) ==
          role + stop + last("  ", "\r\n\r\n") + done);
    const std::string first = R"(data:{"usage":{"a":1} , "choices":[],"timings":{}})"
                              "\n\n";
    CHECK(without(stop + first + done) == stop + "data:{ \"choices\":[],\"timings\":{}}\n\n" + done);
    // In two lines it has no one place: the event goes.
    CHECK(without(stop + "data: {\"usage\":{},\ndata: \"choices\":[],\"timings\":{}}\n\n" + done) == stop + done);
}

TEST_CASE("n choices may interleave, and each must finish") {
    const std::string a = R"(data: {"choices":[{"index":1,"delta":{"content":"b"}}]})"
                          "\n\n";
    const std::string b = R"(data: {"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]})"
                          "\n\n";
    CHECK(stream_verdict(role + a + text + b + stop + done, 2) == reason::none);
    CHECK(stream_verdict(role + a + text + stop + done, 2) == reason::choice_unfinished);
    CHECK(stream_verdict(role + a + text + stop + done, 1) == reason::choice_unfinished);
    CHECK(stream_verdict(a + b + done, 1) == reason::choice_unfinished);  // choice 0 never came
}

TEST_CASE("errors in a stream, in every spelling") {
    for (const std::string_view bad :
         {R"(data: {"error":{"message":"x"}})", R"(data: {"error":"x","choices":[]})",
          R"(data: {"object":"error","message":"x"})", "event: error\ndata: {\"x\":1}", "event: error\ndata: oops"}) {
        CHECK(stream_verdict(role + text + std::string(bad) + "\n\n" + done) == reason::error_in_answer);
        CHECK(stream_verdict(role + text + stop + std::string(bad) + "\n\n" + done) == reason::error_in_answer);
    }
    CHECK(stream_verdict(R"({"error":{"message":"an object on a stream"}})") == reason::terminal_missing);
    CHECK(stream_verdict("data: {\"error\":null,\"choices\":[]}\n\n" + stop + done) == reason::none);
}

TEST_CASE("nonsense in a stream is malformed") {
    CHECK(stream_verdict("data: {\n\n" + stop + done) == reason::answer_malformed);
    CHECK(stream_verdict("data: {} {}\n\n" + stop + done) == reason::answer_malformed);
    CHECK(stream_verdict("data: []\n\n" + stop + done) == reason::answer_malformed);
    CHECK(stream_verdict(stop + done + stop) == reason::answer_malformed);
    CHECK(stream_verdict(stop + done + "data: x") == reason::answer_malformed);
    CHECK(stream_verdict("data: {\"choices\":[7]}\n\n" + stop + done) == reason::answer_malformed);
    CHECK(stream_verdict("data: {\"choices\":[{\"index\":-1}]}\n\n" + stop + done) == reason::answer_malformed);
    CHECK(stream_verdict("data: {\"choices\":[{\"index\":9999999999}]}\n\n" + stop + done) == reason::answer_malformed);
    CHECK(stream_verdict("data: {\"choices\":[{\"finish_reason\":7}]}\n\n" + stop + done) == reason::answer_malformed);
    CHECK(stream_verdict("data:" + std::string(sse_splitter::max_line, ' ') + "\n\n" + stop + done) ==
          reason::answer_malformed);
}

TEST_CASE("harmless things in a stream") {
    CHECK(stream_verdict(": hello\n\n" + stop + ": bye\n\n" + done + done + ": last\n\n") == reason::none);
    CHECK(stream_verdict("retry: 5\nid: 9\n" + stop + done) == reason::none);
    CHECK(stream_verdict(stop + text + done) == reason::none);  // late content
    CHECK(stream_verdict("data: {\"moderation\":{}}\n\n" + stop + done) == reason::none);
}

TEST_CASE("the usage event is found by its bytes") {
    const std::string azure = R"(data: {"id":"","choices":[],"prompt_filter_results":[{"prompt_index":0}]})"
                              "\n\n";
    const std::string nothing = R"(data: {"choices":[],"usage":null})"
                                "\n\n";
    const std::string stream = azure + nothing + role + stop + tokens + done;
    const auto w = openai_chat().watch(form::sse, expecting(1));
    const std::size_t before = azure.size() + nothing.size() + role.size() + stop.size();
    w->feed(std::string_view(stream).substr(0, before + 5));
    CHECK_FALSE(w->usage_event());
    CHECK(w->boundary() == before);
    w->feed(std::string_view(stream).substr(before + 5));
    REQUIRE(w->usage_event());
    CHECK(w->usage_event()->offset == before);
    CHECK(w->usage_event()->size == tokens.size());
    CHECK(w->boundary() == stream.size());
    CHECK(w->finish(true).refuse == reason::none);
}

TEST_CASE("usage in every chunk is no usage event") {
    const std::string both =
        R"(data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":4}})"
        "\n\n";
    const auto w = openai_chat().watch(form::sse, expecting(1));
    w->feed(both + done);
    CHECK_FALSE(w->usage_event());
    const verdict v = w->finish(true);
    CHECK(v.refuse == reason::none);
    CHECK(v.tokens->output == 4);
}

TEST_CASE("feeding byte by byte changes nothing") {
    const std::string stream = role + text + stop + tokens + done;
    const auto w = openai_chat().watch(form::sse, expecting(1));
    for (const char c : stream) w->feed(std::string_view(&c, 1));
    CHECK(w->boundary() == stream.size());
    CHECK(w->usage_event()->size == tokens.size());
    CHECK(w->finish(true).refuse == reason::none);
}

TEST_CASE("objects: good, cut, followed by bytes, without choices") {
    const std::string good =
        R"({"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],)"
        R"("usage":{"prompt_tokens":1,"completion_tokens":2}})";
    CHECK(object_verdict(good) == reason::none);
    CHECK(object_verdict(good + "\n") == reason::none);
    CHECK(object_verdict(good, 1, false) == reason::framing_incomplete);
    for (std::size_t cut = 0; cut < good.size(); ++cut) {
        CHECK(object_verdict(std::string_view(good).substr(0, cut)) == reason::answer_malformed);
    }
    CHECK(object_verdict(good + "x") == reason::answer_malformed);
    CHECK(object_verdict(good + good) == reason::answer_malformed);
    CHECK(object_verdict(good, 2) == reason::choice_unfinished);
    // Clients take the last of two members, so what was looked at is not what they would see.
    CHECK(object_verdict(good.substr(0, good.size() - 1) + R"(,"choices":[]})") == reason::answer_malformed);
    CHECK(object_verdict("[]") == reason::answer_malformed);
    CHECK(object_verdict(R"({"choices":[]})") == reason::no_choices);
    CHECK(object_verdict(R"({"choices":null})") == reason::no_choices);
    CHECK(object_verdict("{}") == reason::no_choices);
    CHECK(object_verdict(R"({"error":{"message":"x"}})") == reason::error_in_answer);
    CHECK(object_verdict(R"({"choices":[{"finish_reason":"stop","message":null}]})") == reason::answer_malformed);
    CHECK(object_verdict(R"({"choices":[{"finish_reason":null,"message":{}}]})") == reason::choice_unfinished);
    CHECK(object_verdict(R"({"choices":[{"finish_reason":"stop","message":{"refusal":"no"}}]})") ==
          reason::content_filtered);
    CHECK(object_verdict(R"({"choices":[{"finish_reason":"stop","message":{"refusal":null}}]})") == reason::none);
    CHECK(watch(openai_chat(), form::json, good).tokens->output == 2);
}

TEST_CASE("completions have text") {
    CHECK(watch(openai_completions(), form::json, R"({"choices":[{"index":0,"text":"","finish_reason":"length"}]})")
              .length_limited);
    CHECK(watch(openai_completions(), form::json, R"({"choices":[{"index":0,"finish_reason":"stop"}]})").refuse ==
          reason::answer_malformed);
    CHECK(watch(openai_completions(), form::sse,
                "data: {\"choices\":[{\"index\":0,\"text\":\"a\",\"finish_reason\":\"stop\"}]}\n\n" + done)
              .refuse == reason::none);
}

TEST_CASE("embeddings: one vector for each input") {
    const auto verdict_of = [](std::string_view body, unsigned n) {
        return watch(openai_embeddings(), form::json, body, n).refuse;
    };
    CHECK(verdict_of(R"({"data":[{"index":0,"embedding":[0.1,2]}],"usage":{"prompt_tokens":5}})", 1) == reason::none);
    CHECK(verdict_of(R"({"data":[{"index":0,"embedding":"AAAA"}]})", 1) == reason::none);
    CHECK(verdict_of(R"({"data":[{"index":0,"embedding":[1]}]})", 2) == reason::choice_unfinished);
    CHECK(verdict_of(R"({"data":[]})", 1) == reason::no_choices);
    CHECK(verdict_of(R"({"object":"list"})", 1) == reason::no_choices);
    CHECK(verdict_of(R"({"data":[{"embedding":[]}]})", 1) == reason::answer_malformed);
    CHECK(verdict_of(R"({"data":[{"embedding":""}]})", 1) == reason::answer_malformed);
    CHECK(verdict_of(R"({"data":[{"embedding":null}]})", 1) == reason::answer_malformed);
    CHECK(verdict_of(R"({"data":[7]})", 1) == reason::answer_malformed);
    for (const auto* wrong : {"[null]", R"(["x",{}])", "[1,null]", R"("!!")", R"("AAA")", "{}"})
        CHECK(verdict_of(R"({"data":[{"index":0,"embedding":)" + std::string(wrong) + "}]}", 1) ==
              reason::answer_malformed);
    CHECK(verdict_of(R"({"data":[{"index":0,"embedding":[[1,2],[3,4]]}]})", 1) == reason::none);
    CHECK(verdict_of(R"({"data":[{"index":1,"embedding":[1]},{"index":0,"embedding":[2]}]})", 2) == reason::none);
    CHECK(verdict_of(R"({"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[2]}]})", 2) ==
          reason::answer_malformed);
    CHECK(verdict_of(R"({"data":[{"index":1,"embedding":[1]}]})", 1) == reason::answer_malformed);
    CHECK(verdict_of(R"({"error":{}})", 1) == reason::error_in_answer);
    const verdict v = watch(openai_embeddings(), form::json,
                            R"({"model":"e","data":[{"embedding":[1]}],"usage":{"prompt_tokens":5}})");
    CHECK(v.model == "e");
    CHECK(v.tokens->input == 5);
}
