// OpenAI responses from stream to object and back: nothing lost, or nothing converted.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <boost/json.hpp>
#include <string>

#include "tests/unit/upstream/dialect/any_json.hpp"
#include "upstream/dialect/registry.hpp"
#include "upstream/dialect/sse.hpp"

using namespace idem;
using namespace idem::upstream::dialect;
using namespace idem::upstream::dialect::testing;
namespace json = boost::json;

namespace {

json::value parse(std::string_view text) {
    return json::parse(json::string_view(text.data(), text.size()));
}

json::object response_of(json::array output, std::string_view status = "completed") {
    json::object o{{"id", "resp_1"},
                   {"object", "response"},
                   {"created_at", 1},
                   {"status", status},
                   {"error", nullptr},
                   {"incomplete_details", nullptr},
                   {"completed_at", 1.5},
                   {"model", "m"},
                   {"output", std::move(output)},
                   {"usage", {{"input_tokens", 1}, {"output_tokens", 2}}}};
    if (status == "incomplete") o["incomplete_details"] = {{"reason", "max_output_tokens"}};
    return o;
}

json::object text_part(json::value text) {
    return {{"type", "output_text"}, {"text", std::move(text)}, {"annotations", json::array()}};
}

json::object message_of(json::array content) {
    return {{"id", "msg_1"},
            {"type", "message"},
            {"role", "assistant"},
            {"status", "completed"},
            {"content", std::move(content)}};
}

std::vector<json::object> events_of(std::string_view stream) {
    std::vector<json::object> out;
    sse_splitter splitter;
    while (splitter.next(stream) == sse_step::event) {
        out.push_back(parse(splitter.event().data).as_object());
        CHECK(out.back().at("type").as_string() == splitter.event().type);
    }
    CHECK_FALSE(splitter.unfinished());
    return out;
}

// What a client makes of the events if it reads everything but the terminal one, as the official accumulators do. Each
// text must be what its `done` event says.
class client {
public:
    void take(const json::object& e) {
        CHECK(e.at("sequence_number").to_number<std::size_t>() == number_++);
        const std::string type(e.at("type").as_string());
        if (e.contains("response")) return take_response(type, e.at("response").as_object());
        const auto index = e.at("output_index").to_number<std::size_t>();
        if (type == "response.output_item.added") {
            CHECK(index == output.size());
            output.push_back(e.at("item"));
            return;
        }
        json::object& item = output.at(index).as_object();
        if (type == "response.output_item.done") {
            json::object done = e.at("item").as_object();
            if (done.contains("status") && done.at("status").is_string()) item["status"] = done.at("status");
            CHECK(json::value(item) == json::value(done));
            return;
        }
        CHECK(e.at("item_id") == item.at("id"));
        take_inside(type, e, item);
    }
    json::array output;
    json::object last;

private:
    void take_response(const std::string& type, const json::object& response) {
        if (type == "response.created" || type == "response.in_progress") {
            CHECK(response.at("status").as_string() == "in_progress");
            CHECK(response.at("output").as_array().empty());
        } else {
            CHECK(type == "response." + std::string(response.at("status").as_string()));
            last = response;
        }
    }

    void take_inside(const std::string& type, const json::object& e, json::object& item) {
        if (e.contains("summary_index")) return take_part(type, e, item.at("summary").as_array(), "summary_index");
        if (e.contains("content_index")) return take_part(type, e, item.at("content").as_array(), "content_index");
        const char* member = item.at("type").as_string() == "function_call" ? "arguments" : "input";
        if (type.ends_with(".delta")) {
            item.at(member).as_string().append(e.at("delta").as_string());
        } else {
            CHECK(item.at(member) == e.at(member));
        }
    }

    static void take_part(const std::string& type, const json::object& e, json::array& parts, const char* name) {
        const auto index = e.at(name).to_number<std::size_t>();
        if (type.ends_with("part.added")) {
            CHECK(index == parts.size());
            parts.push_back(e.at("part"));
            return;
        }
        json::object& part = parts.at(index).as_object();
        const char* member = part.contains("refusal") ? "refusal" : "text";
        if (type.ends_with(".delta")) {
            part.at(member).as_string().append(e.at("delta").as_string());
            if (part.contains("logprobs") && part.at("logprobs").is_array()) part["logprobs"] = e.at("logprobs");
        } else if (type.ends_with("annotation.added")) {
            CHECK(e.at("annotation_index").to_number<std::size_t>() == part.at("annotations").as_array().size());
            part.at("annotations").as_array().push_back(e.at("annotation"));
        } else if (type.ends_with("part.done")) {
            if (part.at(member).as_string().empty() && part.contains("logprobs"))
                part["logprobs"] = e.at("part").at("logprobs");
            CHECK(json::value(part) == e.at("part"));
        } else {
            CHECK(part.at(member) == e.at(member));
        }
    }
    std::size_t number_ = 0;
};

// Every way from this object leads back to it.
void check_round_trip(const json::object& object) {
    const std::string text = json::serialize(object);
    CAPTURE(text);
    const auto stream = openai_responses().split(text, false);
    REQUIRE(stream);
    CAPTURE(*stream);
    client reads;
    for (const json::object& e : events_of(*stream)) reads.take(e);
    CHECK(json::value(reads.last) == json::value(object));
    CHECK(json::value(reads.output) == object.at("output"));
    CHECK(openai_responses().assemble(*stream) == text);
    CHECK(openai_responses().normalised(form::sse, *stream) == openai_responses().normalised(form::json, text));
    const auto w = openai_responses().watch(form::sse, call{});
    w->feed(*stream);
    const verdict v = w->finish(true);
    CHECK((v.refuse == reason::none || v.refuse == reason::no_choices || v.refuse == reason::content_filtered));
}

bool refused(const json::object& object) {
    return !openai_responses().split(json::serialize(object), false);
}

bool refused_item(const json::object& item) {
    return refused(response_of({item}));
}

const json::object reasoning{
    {"id", "rs_1"},
    {"type", "reasoning"},
    {"summary", {{{"type", "summary_text"}, {"text", "hm"}}, {{"type", "summary_text"}, {"text", ""}}}},
    {"content", {{{"type", "reasoning_text"}, {"text", "let me see"}}}},
    {"encrypted_content", "gAAA"},
    {"status", "completed"}};
const json::object function_call{{"id", "fc_1"}, {"type", "function_call"},  {"call_id", "call_1"},
                                 {"name", "f"},  {"arguments", "{\"a\":1}"}, {"status", "completed"}};
const json::object custom_call{
    {"id", "ctc_1"}, {"type", "custom_tool_call"}, {"call_id", "call_2"}, {"name", "g"}, {"input", "ls\n"}};

}  // namespace

TEST_CASE("every kind of item comes back") {
    check_round_trip(response_of({message_of({text_part("hé\"l\n")})}));
    json::object cited = text_part("see");
    cited["annotations"] = {{{"type", "url_citation"}, {"url", "u"}, {"start_index", 0}}, {{"type", "file_path"}}};
    cited["logprobs"] = {{{"token", "see"}, {"logprob", -0.5}, {"bytes", {1, 2}}, {"top_logprobs", json::array()}}};
    check_round_trip(response_of({reasoning, message_of({cited, text_part("")})}));
    check_round_trip(response_of({message_of({{{"type", "refusal"}, {"refusal", "no"}}})}));
    check_round_trip(response_of({function_call, custom_call}));
    json::object silent = function_call;
    silent["arguments"] = "";
    check_round_trip(response_of({silent}));
    json::object closed = reasoning;
    closed.erase("content");
    closed["summary"] = json::array();
    check_round_trip(response_of({closed, message_of({})}));
    json::object cut = message_of({text_part("to be cont")});
    cut["status"] = "incomplete";
    check_round_trip(response_of({cut}, "incomplete"));
    check_round_trip(response_of({}));
}

TEST_CASE("what the official accumulators would reject, or do not know, is not made") {
    for (const char* type : {"web_search_call", "image_generation_call", "mcp_call", "an_item_of_next_year"})
        CHECK(refused_item({{"id", "x"}, {"type", type}, {"status", "completed"}}));
    for (const char* status : {"in_progress", "failed", "queued"}) CHECK(refused(response_of({}, status)));
    json::object failed = response_of({});
    failed["error"] = {{"code", "x"}};
    CHECK(refused(failed));
    for (const char* key : {"id", "object", "status", "output"}) {
        json::object without = response_of({});
        without.erase(key);
        CHECK(refused(without));
    }
    json::object nameless = message_of({});
    nameless["id"] = "";
    CHECK(refused_item(nameless));
    json::object anonymous = function_call;
    anonymous.erase("call_id");
    CHECK(refused_item(anonymous));
    CHECK(refused(response_of({message_of({}), message_of({})})));
    json::object again = function_call;
    again["id"] = "fc_2";
    CHECK(refused(response_of({function_call, again})));
    CHECK(refused_item(message_of({{{"type", "output_audio"}, {"data", "x"}}})));
    CHECK(refused_item(message_of({{{"type", "output_text"}, {"text", 1}}})));
    CHECK(refused_item(message_of({1})));
    json::object derived = response_of({});
    derived["output_text"] = "x";
    CHECK(refused(derived));
    CHECK_FALSE(openai_responses().split(
        R"({"object":"response","id":"r","status":"completed","status":"failed","output":[]})", false));
    CHECK_FALSE(openai_responses().split("nonsense", false));
}

TEST_CASE("the object of a stream is that of its end, byte for byte") {
    const std::string object =
        R"({"id":"r","object":"response", "status":"completed","output":[{"type":"x","n":1.0e0,"s":"\u00e9"}]})";
    const std::string stream =
        "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{}}\n\n"
        "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":" +
        object + "}\n\n";
    CHECK(openai_responses().assemble(stream) == object);
    CHECK(openai_responses().assemble(stream + "data: [DONE]\n\n") == object);
    for (std::size_t cut = 0; cut < stream.size(); ++cut) {
        CHECK_FALSE(openai_responses().assemble(std::string_view(stream).substr(0, cut)));
    }
    CHECK_FALSE(openai_responses().assemble(stream + stream));
    CHECK_FALSE(openai_responses().assemble("data: {\"type\":\"error\"}\n\n" + stream));
}

TEST_CASE("without output at the end the items that are done take its place, in their order") {
    const auto done = [](int index, const char* id) {
        return "data: {\"type\":\"response.output_item.done\",\"output_index\":" + std::to_string(index) +
               ",\"item\":{\"id\":\"" + id + "\"}}\n\n";
    };
    const auto ended = [](const std::string& object) {
        return "data: {\"type\":\"response.completed\",\"response\":" + object + "}\n\n";
    };
    const std::string two = done(1, "b") + done(0, "a");
    CHECK(openai_responses().assemble(two + ended(R"({"id":"r","output":null,"x":1})")) ==
          R"({"id":"r","output":[{"id":"a"},{"id":"b"}],"x":1})");
    CHECK(openai_responses().assemble(two + ended(R"({"id":"r"})")) ==
          R"({"id":"r","output":[{"id":"a"},{"id":"b"}]})");
    CHECK(openai_responses().assemble(two + ended("{}")) == R"({"output":[{"id":"a"},{"id":"b"}]})");
    CHECK_FALSE(openai_responses().assemble(ended("{}")));
}

TEST_CASE("ids, encrypted reasoning, log probabilities and usage are no difference; words are") {
    const auto normal = [](const json::object& object) {
        return openai_responses().normalised(form::json, json::serialize(object));
    };
    json::object one = response_of({reasoning, message_of({text_part("a")}), function_call});
    json::object other = one;
    other["id"] = "resp_2";
    other["usage"] = nullptr;
    other["created_at"] = 2;
    other["output"].at(0).as_object()["encrypted_content"] = "gBBB";
    other["output"].at(1).as_object()["id"] = "msg_2";
    other["output"].at(1).at("content").at(0).as_object()["logprobs"] = json::array{1};
    other["output"].at(2).as_object()["call_id"] = "call_9";
    CHECK(normal(one) == normal(other));
    other["output"].at(2).as_object()["arguments"] = "{}";
    CHECK(normal(one) != normal(other));
    CHECK(normal(response_of({message_of({text_part("a")})})) != normal(response_of({message_of({text_part("b")})})));
    CHECK(normal(response_of({reasoning})) != normal(response_of({})));
    CHECK(normal(response_of({}, "incomplete")) != normal(response_of({})));
    CHECK_FALSE(openai_responses().normalised(form::json, "{}"));
    CHECK_FALSE(openai_responses().normalised(form::sse, "data: {}\n\n"));
}

namespace {

json::array any_parts(const char* type) {
    json::array out;
    for (int n = *rc::gen::inRange(0, 3); n > 0; --n) out.push_back(json::object{{"type", type}, {"text", any_text()}});
    return out;
}

json::value any_item(int number) {
    const std::string id = "i" + std::to_string(number);
    switch (*rc::gen::inRange(0, 4)) {
        case 0: {
            json::array content;
            for (int n = *rc::gen::inRange(0, 3); n > 0; --n) {
                json::object part = text_part(any_text());
                if (coin()) part = {{"type", "refusal"}, {"refusal", any_text()}};
                if (coin() && part.contains("annotations")) part["annotations"] = {any_value(), any_value()};
                if (coin()) part["z"] = any_value();
                content.push_back(part);
            }
            json::object item = message_of(content);
            item["id"] = id;
            return item;
        }
        case 1: {
            json::object item{{"id", id}, {"type", "reasoning"}, {"summary", any_parts("summary_text")}};
            if (coin()) item["content"] = any_parts("reasoning_text");
            if (coin()) item["encrypted_content"] = any_text();
            return item;
        }
        case 2: {
            json::object item = function_call;
            item["id"] = id;
            item["call_id"] = "c" + id;
            item["arguments"] = any_text();
            return item;
        }
        default: {
            json::object item = custom_call;
            item["id"] = id;
            item["call_id"] = "c" + id;
            item["input"] = any_text();
            if (coin()) item["extra"] = any_value();
            return item;
        }
    }
}

}  // namespace

TEST_CASE("property: every response comes back from its stream") {
    CHECK(rc::check([] {
        json::array output;
        for (int n = *rc::gen::inRange(0, 4); n > 0; --n) output.push_back(any_item(n));
        json::object object = response_of(output, coin() ? "completed" : "incomplete");
        if (coin()) object["metadata"] = any_value();
        check_round_trip(object);
    }));
}
