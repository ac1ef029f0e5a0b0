#include "gateway/eval/forms.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>

namespace idem::gateway::eval {

namespace {

namespace json = boost::json;

json::object object_of(const std::string& text) {
    return json::parse(text).as_object();
}

std::string last_message(const json::object& body) {
    return std::string(body.at("messages").as_array().back().at("content").as_string());
}

prompt chat(std::string_view text) {
    return {
        "one", "file", "/v1/chat/completions",
        json::serialize(json::object{{"messages", json::array{json::object{{"role", "system"}, {"content", "be brief"}},
                                                              json::object{{"role", "user"}, {"content", text}}}},
                                     {"max_tokens", 24}}),
        20};
}

}  // namespace

TEST_CASE("a call before it shares a beginning, and the cache with nobody else") {
    forms f(*upstream::engine::find("vllm"), "m");
    const prompt p = chat("one two, three");
    REQUIRE(f.shares(p));
    const shared_beginning first = f.sharing(p, 1), most = f.sharing(p, 511);
    CHECK(last_message(object_of(first.before)) == "one 7: say only yes.");
    CHECK(last_message(object_of(most.before)) == "one two,  7: say only yes.");
    CHECK(last_message(object_of(most.then)) == "one two, three");
    CHECK(object_of(first.before).at("max_tokens").to_number<int>() == 1);
    CHECK(object_of(first.then).at("max_tokens").to_number<int>() == 24);
    CHECK(object_of(first.before).at("cache_salt") == object_of(first.then).at("cache_salt"));
    CHECK(object_of(first.before).at("cache_salt") != object_of(most.then).at("cache_salt"));
    CHECK(object_of(first.before).at("temperature") == object_of(first.then).at("temperature"));
    // A slot that holds one prompt needs no salt: the call before it starts from nothing.
    forms slots(*upstream::engine::find("llamacpp"), "m");
    const shared_beginning kept = slots.sharing(p, 2);
    CHECK_FALSE(object_of(kept.before).at("cache_prompt").as_bool());
    CHECK(object_of(kept.then).at("cache_prompt").as_bool());
    CHECK(object_of(kept.before).at("id_slot") == object_of(kept.then).at("id_slot"));
    CHECK_FALSE(forms(*upstream::engine::find("generic"), "m").shares(p));
}

TEST_CASE("prompts of one word, of token ids, and of what is neither") {
    forms f(*upstream::engine::find("vllm"), "m");
    CHECK(last_message(object_of(f.sharing(chat("one"), 1).before)) == " 7: say only yes.");
    CHECK(last_message(object_of(f.sharing(chat(""), 1).before)) == " 7: say only yes.");
    const auto ids_of = [&](std::string_view ids, std::size_t shared) {
        const prompt p{"ids", "file", "/v1/completions", R"({"prompt":)" + std::string(ids) + R"(,"max_tokens":9})", 5};
        return json::serialize(object_of(f.sharing(p, shared).before).at("prompt"));
    };
    CHECK(ids_of("[5,6,7]", 1) == "[5,5,6,7]");
    CHECK(ids_of("[5,6,7]", 511) == "[5,6,5,6,7]");
    CHECK(ids_of("[1,2,3,4,5,6,7,8,9,10,11]", 9) == "[1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8]");
    const prompt parts{"parts", "file", "/v1/chat/completions",
                       R"({"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]})", 5};
    CHECK_FALSE(f.shares(parts));
    CHECK_FALSE(f.shares({"broken", "file", "/v1/chat/completions", "[", 5}));
}

}  // namespace idem::gateway::eval
