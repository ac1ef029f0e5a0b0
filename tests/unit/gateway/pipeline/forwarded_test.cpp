// What each engine is sent of one fixed request, under each policy that changes requests: tests/golden/forwarded has a
// file an engine. IDEM_WRITE_GOLDEN writes them anew.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "gateway/config/loader.hpp"
#include "gateway/pipeline/identify.hpp"
#include "gateway/pipeline/plan.hpp"

using namespace idem;
using namespace idem::gateway;

namespace {

const std::filesystem::path root = IDEM_SOURCE_DIR;

struct sample {
    std::string_view dialect, path, body;
};

// With what clients send most, and one parameter that a policy may fix: the nucleus.
constexpr std::string_view messages = R"("messages":[{"role":"user","content":"Why is the sky blue?"}])";
const std::string chat = R"({"model":"m",)" + std::string(messages) + R"(,"max_tokens":64,"temperature":0.7})";
const std::string greedy = R"({"model":"m",)" + std::string(messages) + R"(,"max_tokens":64,"temperature":0.0})";
const std::string bare = R"({"model":"m",)" + std::string(messages) + "}";

const sample samples[] = {
    {"openai.chat", "/v1/chat/completions", bare},
    {"openai.chat", "/v1/chat/completions", greedy},
    {"openai.chat", "/v1/chat/completions", chat},
    {"openai.completions", "/v1/completions", R"({"model":"m","prompt":"The sky is","seed":7})"},
    {"openai.completions", "/v1/completions", R"({"model":"m","prompt":["a","b"],"top_k":-1})"},
    {"openai.embeddings", "/v1/embeddings", R"({"model":"m","input":"sky"})"},
    {"openai.responses", "/v1/responses", R"({"model":"m","input":"Why is the sky blue?"})"},
    {"anthropic.messages", "/v1/messages",
     R"({"model":"m","max_tokens":64,"messages":[{"role":"user","content":"Why is the sky blue?"}]})"},
    {"ollama.chat", "/api/chat",
     R"({"model":"m","messages":[{"role":"user","content":"Why?"}],"options":{"top_k":4}})"},
    {"ollama.generate", "/api/generate", R"({"model":"m","prompt":"Why?"})"},
    {"llamacpp.completion", "/completion", R"({"prompt":"The sky is","n_predict":16})"},
    {"llamacpp.infill", "/infill", R"({"input_prefix":"f[","input_suffix":"]","seed":-1})"},
    {"sglang.generate", "/generate", R"({"text":"The sky is","sampling_params":{"max_new_tokens":16,"n":2}})"},
    {"tgi.generate", "/generate", R"({"inputs":"The sky is","parameters":{"max_new_tokens":16,"best_of":2}})"},
    {"gemini.generate", "/v1beta/models/m:generateContent",
     R"({"contents":[{"parts":[{"text":"Why?"}]}],"generation_config":{"temperature":1}})"},
    {"mistral.fim", "/v1/fim/completions", R"({"model":"m","prompt":"f[","suffix":"]"})"},
};

config::loaded configured(std::string_view engine, std::string_view policy) {
    const std::string text = "upstreams: [{name: u, engine: " + std::string(engine) +
                             ", replicas: [{url: \"http://h:1\"}]}]\nroutes: [{policy: " + std::string(policy) + "}]\n";
    config::world w;
    w.environment = [](const std::string&) -> std::optional<std::string> { return std::nullopt; };
    w.read_file = [](const std::string&) -> std::optional<std::string> { return std::nullopt; };
    return config::load({.text = text}, w);
}

std::string sent(const pipeline::plan& routes, const sample& s) {
    pipeline::identifier identifies;
    upstream::http::request_head head;
    head.method = "POST";
    head.target = s.path;
    head.headers.add("content-type", "application/json");
    const auto id = identifies.identify(head, s.body, 0, 1U << 20U, &routes);
    REQUIRE(id.api);
    if (id.api->name() != s.dialect) return {};  // another engine's API on the same path
    const auto& treats = *id.route->treatment;
    if (const reason why = treats.refuses(*id.api); why != reason::none) return std::string(to_string(why));
    if (id.refused) {
        std::string out(to_string(reason::parameter_conflict));
        for (const auto& c : id.conflicts) out += " (" + c.field + " is " + c.value + ", expected " + c.expected + ")";
        return out;
    }
    CHECK(id.refuse == reason::none);
    std::string body(id.changed.value_or(s.body));
    return treats.as_sent(std::move(body), *id.api, identifies.digest_of(id), id128{});
}

std::string everything_of(std::string_view engine) {
    std::string out;
    for (const std::string_view policy : {"strict", "seeded", "relaxed"}) {
        const auto l = configured(engine, policy);
        out.append(policy).append("\n");
        if (!l.errors.empty()) {
            for (const auto& e : l.errors) out.append("  idem check: ").append(e.message).append("\n");
            continue;
        }
        const pipeline::plan routes(std::make_shared<const config::configuration>(l.value));
        for (const sample& s : samples) {
            const std::string is = sent(routes, s);
            if (is.empty()) continue;
            out.append("  ").append(s.path).append(" ").append(s.body).append("\n    -> ");
            out.append(is == s.body ? "as it came" : is).append("\n");
        }
    }
    return out;
}

std::string slurp(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::stringstream all;
    all << in.rdbuf();
    return std::move(all).str();
}

}  // namespace

TEST_CASE("golden: what each engine is sent under each policy") {
    for (const upstream::engine::profile* p : upstream::engine::all()) {
        CAPTURE(p->name);
        const std::string all = everything_of(p->name);
        const auto file = root / "tests/golden/forwarded" / (std::string(p->name) + ".txt");
        if (std::getenv("IDEM_WRITE_GOLDEN") != nullptr) std::ofstream(file) << all;
        CHECK(all == slurp(file));
    }
}

TEST_CASE("what is added when a request is sent is in no digest, and is sent nowhere else") {
    const auto l = configured("vllm", "strict");
    const pipeline::plan routes(std::make_shared<const config::configuration>(l.value));
    const auto& treats = *routes.match({"/v1/chat/completions", ""}, {})->treatment;
    const auto& api = *upstream::dialect::by_name("openai.chat");
    const digest request{};
    id128 other;
    other.bytes[0] = 1;
    CHECK(treats.as_sent(R"({"a":1})", api, request, {}) ==
          R"({"a":1,"cache_salt":"00000000000000000000000000000000"})");
    CHECK(treats.as_sent(R"({"cache_salt":"mine"})", api, request, other) ==
          R"({"cache_salt":"01000000000000000000000000000000"})");
    const auto& embeds = *upstream::dialect::by_name("openai.embeddings");
    CHECK(treats.as_sent(R"({"a":1})", embeds, request, {}) == R"({"a":1})");
    CHECK_FALSE(treats.adds_when_sent(embeds));
}
