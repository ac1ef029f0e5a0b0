#include "gateway/config/loader.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "gateway/config/describe.hpp"
#include "gateway/config/schema.hpp"

namespace config = idem::gateway::config;
using config::milliseconds;

namespace {

std::string slurp(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    REQUIRE_MESSAGE(in.good(), path.string());
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

const std::filesystem::path root = IDEM_SOURCE_DIR;

config::world fake_world() {
    config::world w;
    w.environment = [](const std::string& name) -> std::optional<std::string> {
        if (name == "SET") return "value";
        if (name == "EMPTY") return "";
        if (name == "QWEN_KEY") return "key";
        if (name == "SECRET") return "canary-secret-value";
        return std::nullopt;
    };
    w.read_file = [](const std::string& path) -> std::optional<std::string> {
        if (path == "/run/secrets/token") return "token-from-a-file\n";
        if (path == "/exists/clients") return "alice " + std::string(64, 'a') + "\nbob nonsense\n";
        if (path.starts_with("/exists/")) return "x";
        return std::nullopt;
    };
    w.memory_limit = 1ull << 30;
    return w;
}

config::loaded load(const std::string& text, std::vector<config::setting> settings = {},
                    std::optional<config::shortcut> shortcut = std::nullopt) {
    return config::load({.text = text, .upstream = std::move(shortcut), .settings = std::move(settings)}, fake_world());
}

std::string errors(const config::loaded& l) {
    std::string out;
    for (const auto& e : l.errors) out += e.text() + "\n";
    return out;
}

const std::string one_upstream = "upstreams: [{name: m, replicas: [{url: \"http://h:1\"}]}]\n";

}  // namespace

TEST_CASE("an upstream from the command line needs no file") {
    const auto l = load("", {}, config::shortcut{.url = "http://localhost:9000/v1"});
    CHECK(errors(l) == "");
    REQUIRE(l.value.upstreams.size() == 1);
    CHECK(l.value.upstreams[0].name == "default");
    CHECK(l.value.upstreams[0].replicas.at(0).id == "r1");
    CHECK(l.value.upstreams[0].replicas[0].at.port == 9000);
    REQUIRE(l.value.routes.size() == 1);
    CHECK(l.value.routes[0].upstream == "default");
    CHECK(l.value.routes[0].policy == "relaxed");
    CHECK(l.value.policies.size() == 5);
    CHECK(l.value.cache.embedded_path == "idem-data");
}

TEST_CASE("the example of the design loads, as far as this stage goes") {
    const auto l = load(R"(
listen:   {address: "127.0.0.1:8080", expose: full, body: 64MiB, connections: 10000}
admin:    {address: "127.0.0.1:8081", token: "${SECRET}"}
health:   {address: "0.0.0.0:9090"}
cache:
  scope: credential
  ttl: 30d
  memory: 40%
  store: redis
  embedded: {path: idem-data, size: 4GiB}
  redis: {urls: ["redis://127.0.0.1:6379"], topology: standalone, deadline: 50ms}
  compression: zstd
upstreams:
  - name: qwen
    engine: vllm
    replicas: [{id: a, url: "http://10.0.0.11:8000"}, {id: b, url: "http://10.0.0.12:8000"}]
    credentials: passthrough
    timeouts: {connect: 2s, first_byte: 120s, between_bytes: 60s, total: 15m}
  - name: hosted
    engine: openai
    replicas: [{url: "https://api.example.com/v1"}]
    credentials: {bearer: {file: /run/secrets/token}}
    tls: {server_name: other.example.com}
policies:
  long: {extends: audit, usage: keep}
  audit: {ttl: 365d, eligible: greedy}
  off: {extends: bypass}
routes:
  - {match: {path: "/v1/chat/completions", model: "qwen*", header: {x-scenario: audit}}, upstream: qwen, policy: audit}
  - {match: {model: "gpt-*"}, upstream: hosted, policy: long}
  - {upstream: qwen}
)");
    CHECK(errors(l) == "");
    CHECK(l.warnings.empty());
    const auto& c = l.value;
    CHECK(c.admin.token == "canary-secret-value");
    CHECK(c.admin.health->port == 9090);
    CHECK(c.cache.memory == (1ull << 30) / 100 * 40 + 9);
    CHECK(c.cache.store == config::cache::tier::redis);
    CHECK(c.upstreams.at(1).bearer == "token-from-a-file");
    CHECK(c.upstreams[1].replicas.at(0).at.tls);
    CHECK(c.upstreams[1].replicas[0].at.tls_options.server_name == "other.example.com");
    CHECK(c.routes.at(0).headers.at(0) == std::pair<std::string, std::string>{"x-scenario", "audit"});
    CHECK(c.routes[1].name == "route-2");
    for (const auto& p : c.policies) {
        if (p.name == "long") {
            CHECK(p.base == "relaxed");
            CHECK(p.ttl == std::chrono::days(365));
            CHECK(p.eligible == config::policy::eligibility::greedy);
            CHECK_FALSE(p.usage_inject);
        }
        if (p.name == "off") CHECK(p.base == "bypass");
    }
    CHECK(c.policies.size() == 8);
}

TEST_CASE("flags beat the environment, the environment beats the file, the file beats the defaults") {
    std::vector<config::problem> warnings;
    auto settings = config::settings_from_environment({{"IDEM_CACHE_TTL", "2h"},
                                                       {"IDEM_CACHE_REDIS_URLS", "redis://a:1"},
                                                       {"IDEM_UPSTREAMS_0_TIMEOUTS_TOTAL", "20m"},
                                                       {"IDEM_POLICIES_LONG_TERM_TTL", "9d"},
                                                       {"IDEM_ADMIN_TOKEN_FILE", "/run/secrets/token"},
                                                       {"IDEM_PORT_8080_TCP_ADDR", "10.0.0.1"},
                                                       {"IDEM_SERVICE_HOST", "10.0.0.1"},
                                                       {"IDEM_CACHE_TLL", "1h"},
                                                       {"HOME", "/"}},
                                                      warnings);
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].text() ==
          "IDEM_CACHE_TLL: no key of the configuration has this name; it is ignored; did you mean IDEM_CACHE_TTL?");
    settings.push_back({"cache.ttl", "3h", "--set cache.ttl"});
    settings.push_back({"upstreams.m.engine", "vllm", "--set"});
    settings.push_back({"listen.trusted", "10.0.0.0/8,::1", "--set"});
    const auto l = load("cache: {ttl: 1h, stale: 1h}\n" + one_upstream, settings);
    CHECK(errors(l) == "");
    CHECK(l.value.cache.ttl == std::chrono::hours(3));
    CHECK(l.value.cache.stale == std::chrono::hours(1));
    CHECK(l.value.cache.entry == 4ull << 20);
    CHECK(l.value.cache.redis.urls == std::vector<std::string>{"redis://a:1"});
    CHECK(l.value.upstreams.at(0).total == std::chrono::minutes(20));
    CHECK(l.value.upstreams[0].engine == "vllm");
    CHECK(l.value.listen.trusted == std::vector<std::string>{"10.0.0.0/8", "::1"});
    CHECK(l.value.admin.token == "token-from-a-file");
    REQUIRE(l.value.policies.size() == 6);
    CHECK(l.value.policies[5].name == "long_term");
}

TEST_CASE("a bad value from a flag or a variable is named by it") {
    const auto l = load(one_upstream, {{"cache.ttl", "soon", "IDEM_CACHE_TTL"},
                                       {"cache.nothing", "1", "--set cache.nothing"},
                                       {"upstreams.7.engine", "vllm", "--set upstreams.7.engine"}});
    CHECK(errors(l) ==
          "--set cache.nothing: cache.nothing: unknown key; known here: scope, key_secret, ttl, stale, ledger, entry, "
          "memory, "
          "store, when_blind, "
          "embedded, redis, compression, encryption\n"
          "--set upstreams.7.engine: \"upstreams.7.engine\": there is no element \"7\"; the list has 1\n"
          "IDEM_CACHE_TTL: cache.ttl: \"soon\" is not accepted; expected a duration such as 50ms, 30s, 15m or 30d, "
          "from 1s to "
          "36500d\n");
}

TEST_CASE("variables are expanded in values, once") {
    const auto l = load("data: \"${SET}/${NONE:-x}/${EMPTY:-y}/$${SET}/$5\"\n" + one_upstream);
    CHECK(errors(l) == "");
    CHECK(l.value.data == "value/x/y/${SET}/$5");
}

TEST_CASE("golden messages: every error of a file at once") {
    for (const auto& file : std::filesystem::directory_iterator(root / "tests/golden/config")) {
        if (file.path().extension() != ".yaml") continue;
        CAPTURE(file.path().string());
        const auto l = config::load({.text = slurp(file.path()), .name = "idem.yaml"}, fake_world());
        std::string said = errors(l);
        for (const auto& w : l.warnings) said += "warning: " + w.text() + "\n";
        auto golden = file.path();
        golden.replace_extension(".txt");
        if (std::getenv("IDEM_WRITE_GOLDEN") != nullptr) std::ofstream(golden) << said;
        CHECK(said == slurp(golden));
        CHECK(said.find("canary") == std::string::npos);
    }
}

TEST_CASE("the table and the structs agree on every default") {
    const auto compare = [](const config::section& s, const void* from) {
        for (const auto& k : s.keys) {
            CAPTURE(k.path);
            CHECK_FALSE(k.help.empty());
            if (k.to.get == nullptr || k.path == "cache.embedded.path") continue;  // that one follows `data`
            const auto v = k.to.get(from);
            if (k.type == config::kind::text && k.fallback.empty()) {
                CHECK((!v || v->text.empty()));
                continue;
            }
            const std::string written = v ? config::written(k, *v) : "";
            std::string fallback(k.fallback);
            if (k.type == config::kind::address && !fallback.empty()) fallback = "\"" + fallback + "\"";
            CHECK(written == fallback);
        }
    };
    const config::configuration c;
    compare(config::schema(), &c);
    const config::upstream_pool u;
    const config::route r;
    config::policy p;
    p.base = "relaxed";
    for (const auto& k : config::schema().keys) {
        if (k.path == "upstreams") compare(*k.below, &u);
        if (k.path == "routes") compare(*k.below, &r);
        if (k.path == "policies") compare(*k.below, &p);
    }
}

TEST_CASE("generated files are up to date") {
    const std::pair<const char*, std::string> files[]{{"conf/idem.yaml", config::describe_defaults()},
                                                      {"conf/reference.md", config::describe_reference()},
                                                      {"tests/golden/config/schema.json", config::describe_schema()}};
    for (const auto& [name, text] : files) {
        CAPTURE(name);
        if (std::getenv("IDEM_WRITE_GOLDEN") != nullptr) std::ofstream(root / name) << text;
        CHECK(slurp(root / name) == text);
    }
}

TEST_CASE("the file of defaults changes nothing") {
    const auto plain = load("", {}, config::shortcut{.url = "http://h:1"});
    const auto full = load(config::describe_defaults(), {}, config::shortcut{.url = "http://h:1"});
    CHECK(errors(full) == "");
    CHECK(config::describe_effective(full.value) == config::describe_effective(plain.value));
    // With every example taken in, all keys are known and well written; only references to files and names may fail.
    std::string examples;
    std::istringstream lines(config::describe_defaults());
    for (std::string line; std::getline(lines, line);) {
        const bool example = line.starts_with("#   ") || (line.starts_with("# ") && line.ends_with("s:"));
        if (example) line.erase(0, 2);
        examples += line + "\n";
    }
    // But for the ways to name a credential, of which one is enough, and what has no effect on a policy that extends
    // relaxed.
    const auto all = load(examples);
    REQUIRE(all.errors.size() == 4);
    CHECK(all.errors[0].message.find("admission.golden: the file") != std::string::npos);
    CHECK(all.errors[1].message ==
          "upstreams[0].credentials: names several credentials; give one of bearer, bearer_file and header");
    CHECK(all.errors[2].message.starts_with("policies.audit.conflict: has no effect"));
    CHECK(all.errors[3].message.starts_with("policies.audit.of: has no effect"));
}

TEST_CASE("what is in force reads back and hides secrets") {
    const auto l = load(R"(
admin: {token: "${SECRET}"}
cache: {key_secret: canary-key-secret, redis: {urls: ["redis://u:canary@h:1"], password: canary-pw}}
upstreams:
  - {name: m, replicas: [{url: "http://h:1"}, {id: x, url: "http://i:1"}], credentials: {bearer: canary}}
policies: {audit: {ttl: 365d}}
routes: [{match: {header: {a: "b: c"}}, policy: audit}, {}]
)");
    CHECK(errors(l) == "");
    const auto text = config::describe_effective(l.value);
    CHECK(text.find("canary") == std::string::npos);
    auto w = fake_world();
    const auto again = config::load({.text = text}, w);
    CHECK(errors(again).find("IDEM_ADMIN_TOKEN is not set") != std::string::npos);
    // Where the environment has the secrets.
    w.environment = [](const std::string& name) -> std::optional<std::string> {
        if (name == "IDEM_ADMIN_TOKEN") return "canary-secret-value";
        if (name == "IDEM_CACHE_KEY_SECRET") return "canary-key-secret";
        if (name == "IDEM_CACHE_REDIS_PASSWORD") return "canary-pw";
        if (name == "IDEM_UPSTREAMS_0_CREDENTIALS_BEARER") return "canary";
        return std::nullopt;
    };
    const auto full = config::load({.text = text}, w);
    CHECK(errors(full) == "");
    CHECK(full.warnings.empty());
    CHECK(full.value.admin.token == "canary-secret-value");
    CHECK(full.value.cache.key_secret == "canary-key-secret");
    CHECK(full.value.cache.redis.password == "canary-pw");
    CHECK(full.value.upstreams.at(0).bearer == "canary");
    CHECK(config::describe_effective(full.value) == text);
}

TEST_CASE("what is in force loads again without a complaint") {
    auto w = fake_world();
    w.environment = [](const std::string&) { return std::optional<std::string>("a-value-of-24-characters"); };
    w.read_file = [](const std::string&) { return std::optional("alice " + std::string(64, 'a') + "\n"); };
    std::vector<config::input> inputs;
    for (const std::string url : {"http://h:1", "https://h:1/v1"}) {
        inputs.push_back({.upstream = config::shortcut{.url = url}});
    }
    for (const auto& file : std::filesystem::directory_iterator(root / "conf/examples")) {
        inputs.push_back({.text = slurp(file.path()), .name = file.path().string()});
    }
    inputs.push_back({.text = "data: \"$${SET}/$$${x}\"\npolicies: {audit: {ttl: 365d}}\n" + one_upstream});
    inputs.push_back({.text = "upstreams: [{name: m, replicas: [{url: \"http://h:1\"}], tls: {verify: true}}]\n"});
    for (const auto& in : inputs) {
        CAPTURE(in.name);
        const auto first = config::load(in, w);
        CHECK(errors(first) == "");
        CHECK(first.warnings.empty());
        const auto text = config::describe_effective(first.value);
        CAPTURE(text);
        const auto again = config::load({.text = text}, w);
        CHECK(errors(again) == "");
        CHECK(again.warnings.empty());
        CHECK(again.value.data == first.value.data);
        CHECK(config::describe_effective(again.value) == text);
    }
}

TEST_CASE("mistakes of YAML are told where they were made") {
    const std::pair<std::string, std::string> cases[]{
        {"cache:\n\tttl: 1d\n", "2:1: tabs are not allowed for indentation, use spaces"},
        {"cache:\n  ttl: 1d\n \tentry: 3\n", "3:2: tabs are not allowed for indentation, use spaces"},
        {"upstreams:\n\t- name: m\n", "2:1: tabs are not allowed for indentation, use spaces"},
        {"cache:\r\n\tttl: 1d\r\n", "2:1: tabs are not allowed for indentation, use spaces"},
        {"cache: {ttl: \"1d, stale: 7d}\nlog: {}\n", "1:14: the quote that opens here is never closed"},
        {"\xEF\xBB\xBF"
         "data: 'x\nlog: {}\n",
         "1:7: the quote that opens here is never closed"},
        {"cache:\n  ttl: 1d\ndata: \"x\\\"\n", "3:7: the quote that opens here is never closed"},
        {"cache:\n  \"ttl: 1d\n", "2:3: the quote that opens here is never closed"},
        {"cache:\n  ttl: \"1d\n  stale: \"7d\"\n",
         "2:8: the quote that opens here is closed only in line 3; its closing quote seems to be missing"},
        {"data: 'its\nlog: {level: 'info'}\n",
         "1:7: the quote that opens here is closed only in line 2; its closing quote seems to be missing"},
        {"data: 'it's'\n", "1:11: end of map not found"},
    };
    for (const auto& [text, said] : cases) {
        CAPTURE(text);
        CHECK(errors(load(text)) == "idem.yaml:" + said + "\n");
    }
    // Allowed: tabs between words, in empty lines, before comments and inside brackets; quotes over several lines.
    CHECK(errors(load("data:\t\"it's \\\" so\n  long\"\n\t\n\t# x\ncache: {\n\tttl: 1d}\nlog: {level: 'info'}\n" +
                      one_upstream)) == "");
    CHECK(load("data: |\n  \"no quote\n" + one_upstream).value.data == "\"no quote\n");
}

TEST_CASE("a missing file is named as it was looked for, unless that may be the secret itself") {
    const auto said = [](const std::string& path) {
        return errors(load("admin: {token: {file: \"" + path + "\"}}\n" + one_upstream, {}, std::nullopt));
    };
    CHECK(said("${NONE:-/run/secrets/x}") ==
          "idem.yaml:1:23: admin.token.file: \"/run/secrets/x\" cannot be read or is empty\n");
    CHECK(said("/run/${SET}/x") == "idem.yaml:1:23: admin.token.file: \"/run/value/x\" cannot be read or is empty\n");
    CHECK(said("missing") == "idem.yaml:1:23: admin.token.file: \"missing\" cannot be read or is empty\n");
    CHECK(said("${SECRET}") ==
          "idem.yaml:1:23: admin.token.file: \"${SECRET}\" (not shown expanded, since that does not look like a path) "
          "cannot be read or is empty\n");
}

TEST_CASE("an engine is one of a fixed set") {
    const auto said = [](const std::string& engine) {
        return errors(load("upstreams: [{name: m, engine: " + engine + ", replicas: [{url: \"http://h:1\"}]}]\n"));
    };
    for (const auto* engine : {"vllm", "sglang", "llamacpp", "ollama", "tgi", "trtllm", "lmdeploy", "openai", "azure",
                               "anthropic", "gemini", "mistral", "generic"})
        CHECK(said(engine) == "");
    CHECK(
        said("vlm") ==
        "idem.yaml:1:31: upstreams[0].engine: \"vlm\" is not accepted; expected one of vllm, sglang, llamacpp, ollama, "
        "tgi, trtllm, lmdeploy, openai, azure, anthropic, gemini, mistral, generic; did you mean vllm?\n");
}

TEST_CASE("several upstreams need routes, however their absence is written") {
    const std::string two =
        "upstreams:\n  - {name: a, replicas: [{url: \"http://h:1\"}]}\n  - {name: b, replicas: [{url: "
        "\"http://h:2\"}]}\n";
    for (const std::string none : {"", "routes:\n", "routes: []\n", "routes: null\n", "routes: ~\n"}) {
        CAPTURE(none);
        CHECK(errors(load(two + none)).find("say which requests go where") != std::string::npos);
    }
    CHECK(errors(load(two + "routes: [{upstream: a}]\n")) == "");
    const std::string wrong = errors(load(two + "routes: 7\n"));
    CHECK(wrong.find("routes") != std::string::npos);
    CHECK(wrong.find("say which") == std::string::npos);
}

TEST_CASE("aliases may not explode") {
    std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n";
    for (char c = 'b'; c < 'j'; ++c) {
        bomb += std::string(1, c) + ": &" + c + " [";
        for (int i = 0; i < 10; ++i) bomb += std::string(i ? "," : "") + "*" + static_cast<char>(c - 1);
        bomb += "]\n";
    }
    const auto l = load(bomb);
    REQUIRE_FALSE(l.errors.empty());
    CHECK(errors(l).find("aliases expand to too many nodes") != std::string::npos);
}

TEST_CASE("every example loads without a complaint") {
    std::size_t found = 0;
    auto w = fake_world();
    w.read_file = [](const std::string&) { return std::optional("alice " + std::string(64, 'a') + "\n"); };
    for (const auto& file : std::filesystem::directory_iterator(root / "conf/examples")) {
        CAPTURE(file.path().string());
        const auto l = config::load({.text = slurp(file.path())}, w);
        CHECK(errors(l) == "");
        CHECK(l.warnings.empty());
        ++found;
    }
    CHECK(found >= 3);
}
