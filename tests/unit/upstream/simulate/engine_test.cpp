// What the simulator shows of the engine that it plays.
#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "tests/unit/upstream/simulate/forms.hpp"
#include "upstream/engine/profile.hpp"
#include "upstream/simulate/engine/player.hpp"

using namespace idem;
using namespace idem::upstream::simulate;
using namespace idem::upstream::simulate::testing;
namespace json = boost::json;

namespace {

simulate_options as(std::string_view name) {
    simulate_options o;
    o.engine = name;
    o.model = "qwen";
    return o;
}

std::string page(const simulate_options& o, std::string_view target, const chance& luck = {},
                 std::string_view method = "GET") {
    const answer a = plan(o, method, target, "", luck);
    CAPTURE(o.engine);
    CAPTURE(target);
    CHECK(a.status == 200);
    return text_of(a);
}

json::value object(const simulate_options& o, std::string_view target, const chance& luck = {},
                   std::string_view method = "GET") {
    return json::parse(page(o, target, luck, method));
}

std::string chat(const simulate_options& o, const chance& luck = {}, bool stream = false) {
    const std::string body = R"({"model":"m","temperature":0,"messages":[{"role":"user","content":"hi"}],"stream":)" +
                             std::string(stream ? "true}" : "false}");
    return text_of(plan(o, "POST", "/v1/chat/completions", body, luck));
}

json::value fingerprint(const simulate_options& o, const chance& luck = {}) {
    const json::object answer = json::parse(chat(o, luck)).as_object();
    const json::value* found = answer.if_contains("system_fingerprint");
    return found ? *found : json::value();
}

std::size_t count(std::string_view text, std::string_view what) {
    std::size_t n = 0;
    for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++n;
    return n;
}

const std::vector<std::string> engines = {"vllm",   "sglang", "llamacpp",  "ollama", "tgi",     "trtllm", "lmdeploy",
                                          "openai", "azure",  "anthropic", "gemini", "mistral", "generic"};

}  // namespace

TEST_CASE("every engine that can be configured can be played, with pages that are what they say") {
    for (const std::string& name : engines) {
        CAPTURE(name);
        CHECK(upstream::engine::known(name));
        const engine::player& p = engine::find(name);
        CHECK(p.name == name);
        for (const engine::page& each : p.pages) {
            CAPTURE(each.path);
            std::string target(each.path);
            if (target.ends_with('*')) target.back() = '0';
            if (!each.query.empty()) target.append("?").append(each.query);
            CHECK(engine::page_of(p, each.method, target) == &each);
            const std::string body = page(as(name), target, {}, each.method);
            CHECK(count(body, "%") - count(body, "{%") - count(body, "%}") == 0);
            if (each.content_type == "application/json" && !body.empty()) CHECK_NOTHROW((void)json::parse(body));
        }
        CHECK(object(as(name), "/v1/models").at("data").at(0).at("id") == "qwen");
        CHECK(object(as(name), "/v1/models/other").at("id") == "other");
    }
    CHECK(engine::find("unheard of").name == "generic");
}

TEST_CASE("the version stands where the engine shows one") {
    const auto with = [](std::string_view name) {
        simulate_options o = as(name);
        o.version = "7.7";
        return o;
    };
    CHECK(object(with("vllm"), "/version").at("version") == "7.7");
    CHECK(object(with("vllm"), "/server_info?config_format=json").at("system_env").at("vllm_version") == "7.7");
    CHECK(object(with("vllm"), "/server_info").at("vllm_env").at("VLLM_BATCH_INVARIANT") == true);
    CHECK(fingerprint(with("vllm")).as_string().starts_with("vllm-7.7-"));
    CHECK(object(with("sglang"), "/server_info") == object(with("sglang"), "/get_server_info"));
    CHECK(object(with("sglang"), "/server_info").at("version") == "7.7");
    CHECK(object(with("llamacpp"), "/props").at("build_info") == "7.7");
    CHECK(fingerprint(with("llamacpp")) == "7.7");
    CHECK(object(with("ollama"), "/api/version").at("version") == "7.7");
    CHECK(fingerprint(with("ollama")) == "fp_ollama");
    CHECK(object(with("tgi"), "/info").at("version") == "7.7");
    CHECK(fingerprint(with("tgi")) == "7.7-native");
    CHECK(object(with("trtllm"), "/version").at("version") == "7.7");
    CHECK(fingerprint(with("openai")) == "7.7");
    CHECK(fingerprint(with("azure")) == "7.7");
    for (const char* silent : {"sglang", "trtllm", "lmdeploy", "anthropic", "gemini", "mistral"}) {
        CAPTURE(silent);
        CHECK(fingerprint(with(silent)) == nullptr);
    }
    CHECK(json::parse(chat(with("anthropic"))).at("model") == "m7.7");
}

TEST_CASE("engines put the fingerprint where they put it") {
    CHECK(count(chat(as("openai"), {}, true), "system_fingerprint") > 3);
    const std::string stream = chat(as("vllm"), {}, true);
    CHECK(count(stream, "system_fingerprint") == 1);
    CHECK(stream.find("system_fingerprint") > stream.rfind("finish_reason") - 300);
    CHECK(json::parse(chat(as("sglang"))).at("metadata").at("weight_version") == "default-0");
    const answer native = plan(as("sglang"), "POST", "/generate", R"({"text":"hi","sampling_params":{}})", {});
    CHECK(json::parse(text_of(native)).at("meta_info").at("weight_version") == "default-0");
    const answer g =
        plan(as("gemini"), "POST", "/v1beta/models/gm:generateContent", R"({"contents":[{"parts":[]}]})", {});
    CHECK(json::parse(text_of(g)).at("modelVersion") == "gm");
}

TEST_CASE("another environment shows where the engine can tell, and always in the text") {
    const chance before;
    const chance after{.environment = 1};
    for (const std::string& name : engines) {
        CAPTURE(name);
        const auto text = [&](const chance& luck) {
            return json::parse(chat(as(name), luck)).at("choices").at(0).at("message").at("content");
        };
        CHECK(text(before) != text(after));
        CHECK(text(after) != text({.environment = 2}));
    }
    for (const char* name : {"vllm", "llamacpp", "tgi", "openai", "azure", "generic"}) {
        CAPTURE(name);
        CHECK(fingerprint(as(name), before) != fingerprint(as(name), after));
    }
    CHECK(fingerprint(as("ollama"), after) == "fp_ollama");
    const auto changes = [&](std::string_view name, std::string_view target, std::string_view method = "GET") {
        CAPTURE(target);
        CHECK(page(as(name), target, before, method) != page(as(name), target, after, method));
    };
    for (const char* target : {"/version", "/server_info"}) changes("vllm", target);
    for (const char* target : {"/server_info", "/model_info"}) changes("sglang", target);
    for (const char* target : {"/props", "/v1/models"}) changes("llamacpp", target);
    for (const char* target : {"/api/version", "/api/tags", "/api/ps"}) changes("ollama", target);
    changes("ollama", "/api/show", "POST");
    changes("tgi", "/info");
    changes("trtllm", "/version");
    CHECK(page(as("lmdeploy"), "/v1/models", before) == page(as("lmdeploy"), "/v1/models", after));
    CHECK(mark_of(as("anthropic"), "m", 1) == R"("m.post1")");
    CHECK(mark_of(as("lmdeploy"), "m", 1).empty());
}

TEST_CASE("what differs from process to process and from moment to moment") {
    CHECK(object(as("llamacpp"), "/props", {.process = 1}).at("media_marker") !=
          object(as("llamacpp"), "/props", {.process = 2}).at("media_marker"));
    CHECK(object(as("vllm"), "/load", {.running = 3}).at("server_load") == 3);
    CHECK(object(as("llamacpp"), "/slots", {.running = 1}).at(0).at("is_processing") == true);
    CHECK(page(as("vllm"), "/metrics", {.running = 2}).find("vllm:num_requests_running{") != std::string::npos);
}

TEST_CASE("a health check that generates is a model call, others are not") {
    simulate_options o = as("sglang");
    o.latency = std::chrono::milliseconds(20);
    for (const char* target : {"/health", "/health_generate"}) {
        const answer a = plan(o, "GET", target, "", {});
        CHECK(a.model_call);
        CHECK(a.pieces.front().wait == o.latency);
    }
    CHECK_FALSE(plan(as("vllm"), "GET", "/health", "", {}).model_call);
    CHECK(plan(as("openai"), "GET", "/health", "", {}).status == 404);
    CHECK(plan(as("vllm"), "POST", "/slots/0?action=erase", "", {}).status == 404);
    CHECK(plan(as("llamacpp"), "POST", "/slots/0?action=save", "", {}).status == 404);
}

TEST_CASE("while it starts, nothing is to be had") {
    const chance early{.starting = true};
    const answer health = plan(as("llamacpp"), "GET", "/health", "", early);
    CHECK(health.status == 503);
    CHECK(json::parse(text_of(health)).at("error").at("message") == "Loading model");
    for (const std::string& name : engines) {
        CHECK(plan(as(name), "GET", "/v1/models", "", early).status == 503);
        const std::string body = R"({"model":"m","messages":[{}],"max_tokens":1})";
        for (const char* path : {"/v1/chat/completions", "/v1/messages", "/api/chat", "/generate"}) {
            CHECK(plan(as(name), "POST", path, body, early).status == 503);
        }
    }
    CHECK(plan(as("gemini"), "POST", "/v1beta/models/g:generateContent", "{}", early).status == 503);
}
