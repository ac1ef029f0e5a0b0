// A policy that changes bodies: what is keyed is what is forwarded, and both are apart from every other policy's.
#include "gateway/pipeline/changes.hpp"

#include <doctest/doctest.h>

#include <string>

#include "gateway/pipeline/identify.hpp"
#include "gateway/pipeline/plan.hpp"

using namespace idem;
using namespace idem::gateway;

namespace {

struct result {
    reason refuse = reason::none;
    std::string request, canonical, changed;
    upstream::dialect::call call;
};

class gate {
public:
    explicit gate(config::policy p) : plan_(settings(std::move(p))) {}

    result ask(std::string_view body, std::string_view path = "/v1/chat/completions", std::string_view coding = {}) {
        upstream::http::request_head head;
        head.method = "POST";
        head.target = path;
        head.headers.add("content-type", "application/json");
        if (!coding.empty()) head.headers.add("content-encoding", coding);
        const auto id = identifier_.identify(head, body, 0, 1U << 20U, &plan_);
        result r{id.refuse, "", std::string(id.canonical), std::string(id.changed.value_or("")), id.call};
        if (id.refuse == reason::none) r.request = to_hex(identifier_.digest_of(id).bytes);
        pipeline::identifier other;
        const auto& changes = id.route->treatment->changes();
        if (id.refuse == reason::none && changes.asked_for())
            CHECK(other.forwarded(head, body, 1U << 20U, *id.api, changes).value_or("") == r.changed);
        return r;
    }

private:
    static config::snapshot settings(config::policy p) {
        auto c = std::make_shared<config::configuration>();
        p.name = "own";
        p.base = "relaxed";
        c->upstreams = {{.name = "one"}};
        c->policies = {std::move(p)};
        c->routes = {{.name = "all", .upstream = "one", .policy = "own"}};
        return c;
    }
    pipeline::plan plan_;
    pipeline::identifier identifier_;
};

config::policy tidy() {
    config::policy p;
    p.nfc = p.collapse_whitespace = p.trim = true;
    return p;
}

std::string chat(std::string_view content, std::string_view rest = {}) {
    return R"({"model":"m","messages":[{"role":"user","content":")" + std::string(content) + "\"}]" +
           std::string(rest) + "}";
}

}  // namespace

TEST_CASE("spellings of one prompt are one request, whose normalised text is forwarded") {
    gate g(tidy());
    const result plain = g.ask(chat("caf\xc3\xa9 au lait"));
    CHECK(plain.changed.empty());
    const result other = g.ask(chat("  cafe\xcc\x81 \\n au lait\\t"));
    CHECK(other.request == plain.request);
    CHECK(other.changed == chat("caf\xc3\xa9 au lait"));
    CHECK(g.ask(chat("Caf\xc3\xa9 au lait")).request != plain.request);
}

TEST_CASE("what is no prompt text is left alone") {
    gate g(tidy());
    for (
        const std::string_view rest :
        {R"(,"stop":" x ")", R"(,"user_note":" x ")",
         R"(,"tools":[{"type":"function","function":{"name":"f","description":" x ","parameters":{"title":" x "}}}])"}) {
        const result r = g.ask(chat("a", rest));
        CHECK(r.changed.empty());
        CHECK(r.canonical.find("\" x \"") != std::string::npos);
    }
}

TEST_CASE("a policy that changes bodies shares no entry with one that does not") {
    gate relaxed({}), trimming([] {
        config::policy p;
        p.trim = true;
        return p;
    }());
    gate all(tidy());
    CHECK(relaxed.ask(chat("a")).request != trimming.ask(chat("a")).request);
    CHECK(all.ask(chat("a")).request != trimming.ask(chat("a")).request);
    CHECK(relaxed.ask(chat("a")).canonical == trimming.ask(chat("a")).canonical);
}

TEST_CASE("the treatment says what a policy does, in one order") {
    config::policy p = tidy();
    p.strip_pointers = {"/z", "/a", "/z"};
    p.base = "relaxed";
    const auto& generic = upstream::engine::generic;
    CHECK(pipeline::treatment_statements(p, generic, "openai.chat") ==
          std::vector<std::string>{"policy:relaxed", "guarantee:none", "normalise:nfc", "normalise:collapse_whitespace",
                                   "normalise:trim", "strip:/a", "strip:/z"});
    config::policy q = tidy();
    q.strip_pointers = {"/a", "/z"};
    q.base = "relaxed";
    const auto& chat_api = *upstream::dialect::by_name("openai.chat");
    CHECK(pipeline::treatment(p, generic, {}).of(chat_api, false) ==
          pipeline::treatment(q, upstream::engine::vllm, "other").of(chat_api, false));
}

TEST_CASE("stripped members are in neither, whatever they are") {
    config::policy p;
    p.strip_pointers = {"/trace", "/messages/*/name", "/store", "/tools/*/function/parameters/x"};
    gate g(p);
    const result r =
        g.ask(R"({"trace":"1","model":"m","messages":[{"role":"user","name":"n","content":" a "}],"store":true,)"
              R"("tools":[{"type":"function","function":{"name":"f","parameters":{"x":1,"type":"object"}}}]})");
    CHECK(to_string(r.refuse) == to_string(reason::none));  // `store` would have been a bypass
    CHECK(r.changed == R"({"model":"m","messages":[{"role":"user","content":" a "}],)"
                       R"("tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]})");
    CHECK(r.request == g.ask(r.changed).request);
}

TEST_CASE("nonce lines of coding agents are taken out of what is forwarded, before anything is normalised") {
    const std::string_view path = "/v1/messages";
    const auto body = [](std::string_view system) {
        return R"({"model":"m","max_tokens":9,"system":")" + std::string(system) +
               R"(","messages":[{"role":"user","content":"a"}]})";
    };
    gate g(tidy());
    const result r = g.ask(body("x-anthropic-billing-header: cch=1;\\n Be  kind."), path);
    CHECK(r.changed == body("Be kind."));
    CHECK(r.request == g.ask(body("x-anthropic-billing-header: cch=2;\\nBe kind."), path).request);
    // Prose before, it is no nonce afterwards: it is in the key as it is in what is forwarded.
    const result prose = g.ask(body(" x-anthropic-billing-header: cch=1;"), path);
    CHECK(prose.changed == body("x-anthropic-billing-header: cch=1;"));
    CHECK(prose.request != g.ask(body(" x-anthropic-billing-header: cch=2;"), path).request);
}

TEST_CASE("LiteLLM's member is kept for the gateway and goes nowhere else") {
    gate relaxed({}), all(tidy());
    const std::string body = chat(" a ", R"(,"cache":{"ttl":60})");
    const result r = relaxed.ask(body);
    CHECK(r.call.cache_control == R"({"ttl":60})");
    CHECK(r.request == relaxed.ask(chat(" a ")).request);
    CHECK(all.ask(body).call.cache_control == R"({"ttl":60})");
    CHECK(all.ask(body).changed == chat("a"));
    pipeline::body_tools tools;
    for (const upstream::dialect::dialect* api : upstream::dialect::all()) {
        CAPTURE(api->name());
        const auto rest =
            pipeline::body_changes(config::policy{}).apply(tools, *api, R"({"cache":{},"inputs":"x"})").text;
        const bool reads = !api->read(R"({"cache":{},"inputs":"x"})").cache_control.empty();
        CHECK(rest.value_or("") == (reads ? R"({"inputs":"x"})" : ""));
    }
}

TEST_CASE("every place of prompt text is one in some body of its dialect") {
    struct sample {
        std::string_view path, body;
    };
    // Two spellings of each body, which differ in every prompt text and nowhere else.
    const sample samples[] = {
        {"/v1/completions", R"({"model":"m","prompt":"@","suffix":"@"})"},
        {"/v1/completions", R"({"model":"m","prompt":["@","@"]})"},
        {"/v1/chat/completions",
         R"({"model":"m","messages":[{"role":"system","content":"@"},{"role":"tool","content":[{"type":"text","text":"@"}]}]})"},
        {"/v1/responses",
         R"({"model":"m","instructions":"@","input":[{"role":"user","content":"@"},{"role":"user","content":[{"type":"input_text","text":"@"}]},{"type":"function_call_output","call_id":"c","output":"@"}]})"},
        {"/v1/responses", R"({"model":"m","input":"@"})"},
        {"/v1/embeddings", R"({"model":"m","input":["@","@"]})"},
        {"/v1/moderations", R"({"model":"m","input":[{"type":"text","text":"@"}]})"},
        {"/v1/images/generations", R"({"model":"m","prompt":"@"})"},
        {"/v1/fim/completions", R"({"model":"m","prompt":"@","suffix":"@"})"},
        {"/v1/messages",
         R"({"model":"m","system":[{"type":"text","text":"@"}],"messages":[{"role":"user","content":"@"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"@"},{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"@"}]}]}]})"},
        {"/v1/messages/count_tokens", R"({"model":"m","system":"@","messages":[{"role":"user","content":"@"}]})"},
        {"/v1beta/models/m:generateContent",
         R"({"systemInstruction":{"parts":[{"text":"@"}]},"contents":[{"parts":[{"text":"@"}]}]})"},
        {"/v1beta/models/m:embedContent", R"({"content":{"parts":[{"text":"@"}]}})"},
        {"/v1beta/models/m:batchEmbedContents", R"({"requests":[{"content":{"parts":[{"text":"@"}]}}]})"},
        {"/v1beta/models/m:countTokens",
         R"({"generateContentRequest":{"contents":[{"parts":[{"text":"@"}]}],"system_instruction":{"parts":[{"text":"@"}]}}})"},
        {"/api/chat", R"({"model":"m","messages":[{"role":"user","content":"@"}]})"},
        {"/api/generate", R"({"model":"m","prompt":"@","system":"@","suffix":"@"})"},
        {"/api/embed", R"({"model":"m","input":["@"]})"},
        {"/completion", R"({"prompt":["@",[1,"@"]]})"},
        {"/infill",
         R"({"input_prefix":"@","input_suffix":"@","input_extra":[{"filename":"f","text":"@"}],"prompt":"@"})"},
        {"/embedding", R"({"content":"@"})"},
        {"/rerank", R"({"model":"m","query":"@","documents":["@",{"text":"@"}]})"},
        {"/tokenize", R"({"content":"@"})"},
        {"/generate", R"({"text":["@"],"sampling_params":{}})"},
        {"/generate", R"({"inputs":"@"})"},
        {"/generate_stream", R"({"inputs":"@"})"},
    };
    const auto filled = [](std::string_view body, std::string_view text) {
        std::string out;
        for (const char c : body) c == '@' ? void(out += text) : out.push_back(c);
        return out;
    };
    gate g(tidy());
    for (const sample& s : samples) {
        CAPTURE(s.path);
        const result r = g.ask(filled(s.body, R"(  a \n b  )"), s.path);
        CHECK(to_string(r.refuse) == to_string(reason::none));
        CHECK(r.changed == filled(s.body, "a b"));
        CHECK(r.request == g.ask(filled(s.body, "a b"), s.path).request);
    }
}
