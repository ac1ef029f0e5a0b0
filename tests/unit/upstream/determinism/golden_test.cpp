#include "upstream/determinism/golden.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "upstream/determinism/fact_reader.hpp"
#include "upstream/determinism/prompt_memory.hpp"
#include "upstream/dialect/dialect.hpp"
#include "upstream/engine/profile.hpp"

using namespace idem;
using namespace idem::upstream;
using namespace idem::upstream::determinism;

TEST_CASE("the built-in prompts are calls that a dialect knows, each with a name of its own") {
    const auto prompts = builtin_golden();
    CHECK(prompts.size() >= 4);
    for (const auto& p : prompts) {
        const auto* api = dialect::find("POST", p.path);
        REQUIRE(api);
        const auto c = api->read(with_model(p.body, "m"));
        CHECK(c.model == "m");
        CHECK(c.greedy);
        CHECK(c.limit_set);
        CHECK(std::ranges::count(prompts, p.name, &golden_prompt::name) == 1);
    }
}

TEST_CASE("a file of golden prompts: chats, whole calls, comments") {
    const auto read = parse_golden(
        "# what we ship\n\n"
        R"({"name":"tie","prompt":"True or \"False\"?","max_tokens":8})"
        "\r\n"
        R"({"path":"/v1/completions","body":{"prompt":"x","max_tokens":1}})");
    CHECK(read.error.empty());
    REQUIRE(read.prompts.size() == 2);
    CHECK(read.prompts[0].name == "tie");
    CHECK(read.prompts[0].path == "/v1/chat/completions");
    CHECK(read.prompts[0].body ==
          R"({"messages":[{"role":"user","content":"True or \"False\"?"}],"max_tokens":8,"temperature":0,"seed":0})");
    CHECK(read.prompts[1].name == "line-4");
    CHECK(read.prompts[1].body == R"({"prompt":"x","max_tokens":1})");
}

TEST_CASE("a file that cannot be used says which line, and why") {
    for (const auto& [text, why] : std::initializer_list<std::pair<std::string, std::string>>{
             {"", "no prompt in it"},
             {"# only a comment\n", "no prompt in it"},
             {"\nx\n", "line 2: not a JSON object"},
             {"[]", "line 1: not a JSON object"},
             {R"({"prompt":1})", "line 1: \"prompt\" is not a text"},
             {R"({"name":"x"})", "line 1: needs \"prompt\", or \"path\" and \"body\""},
             {R"({"body":{}})", "line 1: \"path\" is missing"},
             {R"({"body":{},"path":"/v1/nothing"})", "line 1: no API that Idem knows has the path /v1/nothing"}}) {
        CAPTURE(text);
        CHECK(parse_golden(text).error == why);
    }
    std::string many;
    for (std::size_t i = 0; i <= most_golden_prompts; ++i)
        many += R"({"prompt":"x"})"
                "\n";
    CHECK(parse_golden(many).error == "line 257: more than 256 prompts");
}

TEST_CASE("a model is put where there is none") {
    CHECK(with_model(R"({"a":1})", R"(x"\y)") == R"({"model":"x\"\\y","a":1})");
    CHECK(with_model("{}", "m") == R"({"model":"m"})");
    CHECK(with_model(R"({"model":"mine"})", "m") == R"({"model":"mine"})");
    CHECK(with_model(R"({"model":null})", "m") == R"({"model":null})");
    CHECK(with_model(R"({"a":1})", "") == R"({"a":1})");
    CHECK(with_model("[", "m") == "[");
}

TEST_CASE("facts are read where they stand, as they stand") {
    constexpr engine::fact_source wanted[] = {{"text", "/a/b"},   {"number", "/n"},       {"flag", "/f"},
                                              {"list", "/l/*/x"}, {"hashed", "/a", true}, {"nothing", "/nowhere"},
                                              {"null", "/z"},     {"long", "/long"},      {"whole", "", true}};
    environment e;
    read_facts(e,
               R"({"a":{"b":"B"},"n":1.5,"f":true,"l":[{"x":"1"},{"y":2},{"x":"3"}],"z":null,"long":")" +
                   std::string(300, 'x') + R"("})",
               wanted);
    const auto value = [&](std::string_view name) { return e.find(name) ? e.find(name)->value : "absent"; };
    CHECK(value("text") == "B");
    CHECK(value("number") == "1.5");
    CHECK(value("flag") == "true");
    CHECK(value("list") == "1,3");
    CHECK(value("hashed") == to_hex(sha256(R"({"b":"B"})").bytes));
    CHECK(value("nothing") == "absent");
    CHECK(value("null") == "absent");
    CHECK(value("long") == "absent");
    CHECK(value("whole").size() == 64);
    CHECK(e.find("text")->from == provenance::reported);
}

TEST_CASE("what is no JSON tells nothing") {
    constexpr engine::fact_source wanted[] = {{"x", "/x"}, {"y", "/y/*/z"}};
    for (const std::string body : {"", "x", "[]", "1", R"({"x":)", R"({"y":1})", "\xff", R"({"x":[)"}) {
        environment e;
        read_facts(e, body, wanted);
        CHECK(e.facts().empty());
        CHECK(first_model(body).empty());
    }
    CHECK(first_model(R"({"data":[{"id":"m"},{"id":"n"}]})") == "m");
}

TEST_CASE("every engine's probes name facts once, and none of them is unreadable as well") {
    for (const engine::profile* p : engine::all()) {
        std::vector<std::string_view> names;
        for (const auto& probe : p->probes.facts) {
            CHECK(probe.path.starts_with('/'));
            for (const auto& f : probe.facts) names.push_back(f.fact);
        }
        for (const auto name : names) {
            CAPTURE(p->name);
            CAPTURE(name);
            CHECK(std::ranges::count(names, name) == 1);
            const bool unreadable = std::ranges::find(p->probes.unreadable, name) != p->probes.unreadable.end();
            CHECK((!unreadable || p->name == "generic"));
            CHECK(engine::readable(p->probes, name));
        }
        CHECK(p->hosted == p->probes.facts.empty());
    }
}

TEST_CASE("a prompt's length is remembered, and the oldest go") {
    prompt_memory m(2);
    CHECK(m.same(sha256("a"), 5));
    CHECK(m.same(sha256("a"), 5));
    CHECK(!m.same(sha256("a"), 6));
    CHECK(m.same(sha256("a"), 6));
    CHECK(m.same(sha256("b"), 1));
    CHECK(m.same(sha256("c"), 1));
    CHECK(m.same(sha256("a"), 99));  // forgotten
    CHECK(!m.same(sha256("c"), 2));
}

TEST_CASE("a prompt's length is compared without being remembered") {
    prompt_memory m;
    CHECK(m.fits(sha256("a"), 5));
    CHECK(m.same(sha256("a"), 6));
    CHECK_FALSE(m.fits(sha256("a"), 7));
    CHECK(m.fits(sha256("a"), 6));
    CHECK_FALSE(m.same(sha256("a"), 7));  // the first that counts
}
