// Generated from the tables of fields.hpp: every field that counts changes the digest, every ignored one does not,
// every bypass names its reason, and what no table knows always counts.
#include <doctest/doctest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "gateway/pipeline/identify.hpp"
#include "gateway/pipeline/plan.hpp"
#include "tests/unit/gateway/pipeline/fields.hpp"
#include "upstream/dialect/dialect.hpp"

using namespace idem;
using namespace idem::gateway::pipeline;
namespace json = boost::json;

namespace {

std::vector<fields::table> all_tables() {
    std::vector<fields::table> all;
    for (const auto& family : {fields::openai(), fields::openai_responses(), fields::openai_objects(),
                               fields::anthropic(), fields::gemini(), fields::ollama(), fields::engines()})
        all.insert(all.end(), family.begin(), family.end());
    return all;
}

// Of dialects whose calls can be cached.
std::vector<fields::table> tables() {
    std::vector<fields::table> all = all_tables();
    std::erase_if(all, [](const fields::table& t) { return t.never != reason::none; });
    return all;
}

json::value parse(std::string_view text) {
    return json::parse(json::string_view(text.data(), text.size()));
}

std::vector<std::string> segments_of(std::string_view pointer) {
    std::vector<std::string> out;
    while (!pointer.empty()) {
        const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
        out.emplace_back(pointer.substr(1, end - 1));
        pointer.remove_prefix(end);
    }
    return out;
}

// The container that holds the last segment; what is missing on the way becomes an object.
json::value& parent_of(json::value& top, const std::vector<std::string>& segments) {
    json::value* at = &top;
    for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
        at = at->is_array() ? &at->as_array().at(std::stoul(segments[i])) : &at->as_object()[segments[i]];
        if (at->is_null()) *at = json::object{};
    }
    return *at;
}

std::string with(std::string_view body, std::string_view pointer, std::string_view value) {
    json::value top = parse(body);
    const auto segments = segments_of(pointer);
    json::value& parent = parent_of(top, segments);
    if (parent.is_array()) {
        parent.as_array().at(std::stoul(segments.back())) = parse(value);
    } else {
        parent.as_object()[segments.back()] = parse(value);
    }
    return json::serialize(top);
}

std::string without(std::string_view body, std::string_view pointer) {
    json::value top = parse(body);
    const auto segments = segments_of(pointer);
    parent_of(top, segments).as_object().erase(segments.back());
    return json::serialize(top);
}

void each_object(const json::value& at, const std::string& pointer,
                 const std::function<void(const std::string&, const json::object&)>& take) {
    if (at.is_object()) {
        take(pointer, at.as_object());
        for (const auto& member : at.as_object())
            each_object(member.value(), pointer + "/" + std::string(member.key()), take);
    } else if (at.is_array()) {
        for (std::size_t i = 0; i < at.as_array().size(); ++i)
            each_object(at.as_array()[i], pointer + "/" + std::to_string(i), take);
    }
}

struct asked {
    reason refuse = reason::none;
    digest request;
    std::string tenant;
};

asked ask(const fields::table& t, std::string_view body, std::string_view header = {}, std::string_view value = {}) {
    static identifier identifies;
    upstream::http::request_head head;
    head.method = "POST";
    head.target = t.path;
    if (!header.empty()) head.headers.add(header, value);
    const identity id = identifies.identify(head, body, 0, 1U << 20U);
    if (id.refuse != reason::none) return {id.refuse, {}, {}};
    return {reason::none, identifies.digest_of(id, {}), id.call.tenant};
}

digest digest_of(const fields::table& t, std::string_view body) {
    CAPTURE(body);
    const asked a = ask(t, body);
    CHECK(a.refuse == reason::none);
    return a.request;
}

bool below(std::string_view pointer, std::string_view top) {
    return pointer == top || (pointer.starts_with(top) && pointer[top.size()] == '/');
}

}  // namespace

TEST_CASE("every dialect has a table, and every table a dialect") {
    std::set<std::string_view> have, want;
    for (const fields::table& t : all_tables()) {
        have.insert(t.dialect);
        const auto* d = upstream::dialect::find("POST", t.path);
        REQUIRE(d);
        CHECK(d->meant("", t.body).name() == t.dialect);
    }
    for (const auto* d : upstream::dialect::all()) want.insert(d->name());
    CHECK(have == want);
}

TEST_CASE("fields that count: each value is another request, and null is no value") {
    for (const fields::table& t : tables()) {
        const digest base = digest_of(t, t.body);
        for (const fields::counted& f : t.counts) {
            CAPTURE(t.dialect);
            CAPTURE(f.at);
            const digest one = digest_of(t, with(t.body, f.at, f.value));
            const digest other = digest_of(t, with(t.body, f.at, f.other));
            CHECK(one != base);
            CHECK(other != base);
            CHECK(one != other);
            if (f.at == "/model" || std::ranges::count(f.at, '/') != 1) continue;
            const asked null = ask(t, with(t.body, f.at, "null"));
            const asked absent = ask(t, without(t.body, f.at));
            CHECK(null.refuse == absent.refuse);
            CHECK(null.request == absent.request);
        }
    }
}

TEST_CASE("fields that are ignored change nothing") {
    for (const fields::table& t : tables()) {
        const digest base = digest_of(t, t.body);
        for (const fields::ignored& f : t.ignores) {
            CAPTURE(t.dialect);
            CAPTURE(f.at);
            CHECK(digest_of(t, with(t.body, f.at, f.value)) == base);
            CHECK(digest_of(t, with(t.body, f.at, f.other)) == base);
        }
    }
}

TEST_CASE("what cannot be cached names its reason") {
    for (const fields::table& t : tables()) {
        for (const fields::bypassing& f : t.bypasses) {
            CAPTURE(t.dialect);
            CAPTURE(f.at);
            CAPTURE(f.value);
            CHECK(ask(t, with(t.body, f.at, f.value)).refuse == f.why);
        }
        CAPTURE(t.dialect);
        if (parse(t.body).as_object().contains("model"))
            CHECK(ask(t, without(t.body, "/model")).refuse == (t.needs_model ? reason::missing_model : reason::none));
    }
    for (const fields::table& t : all_tables()) {
        CAPTURE(t.dialect);
        CHECK(ask(t, t.body).refuse == t.never);
    }
}

TEST_CASE("what keeps callers' prefix caches apart is part of the scope, not of the digest") {
    for (const fields::table& t : tables()) {
        const asked base = ask(t, t.body);
        CHECK(base.tenant.empty());
        for (const std::string_view at : t.tenants) {
            CAPTURE(t.dialect);
            CAPTURE(at);
            const asked one = ask(t, with(t.body, at, R"("a")"));
            const asked other = ask(t, with(t.body, at, R"("b")"));
            CHECK(one.request == base.request);
            CHECK(other.request == base.request);
            CHECK_FALSE(one.tenant.empty());
            CHECK(one.tenant != other.tenant);
            CHECK(ask(t, with(t.body, at, "null")).tenant.empty());
        }
        for (const std::string_view a : t.tenants) {
            for (const std::string_view b : t.tenants) {
                if (a != b) CHECK(ask(t, with(t.body, a, R"("x")")).tenant != ask(t, with(t.body, b, R"("x")")).tenant);
            }
        }
    }
}

TEST_CASE("an unknown field always counts, wherever it stands") {
    for (const fields::table& t : tables()) {
        const digest base = digest_of(t, t.body);
        each_object(parse(t.body), "", [&](const std::string& at, const json::object&) {
            CAPTURE(t.dialect);
            CAPTURE(at);
            for (const std::string_view value : {"1", "{}"}) {
                const asked a = ask(t, with(t.body, at + "/a_field_of_next_year", value));
                // Gemini names the kind of a tool by a field: an unknown one may act.
                const bool tool = t.dialect.starts_with("gemini.") &&
                                  at.rfind('/') == std::string_view("/tools").size() && at.starts_with("/tools/");
                CHECK(a.refuse == (tool ? reason::side_effecting_call : reason::none));
                CHECK(a.request != base);
            }
        });
    }
}

TEST_CASE("the order of keys counts where it reaches the model, and nowhere else") {
    for (const fields::table& t : tables()) {
        const digest base = digest_of(t, t.body);
        std::set<std::string_view> seen;
        each_object(parse(t.body), "", [&](const std::string& at, const json::object& o) {
            if (o.size() < 2) return;
            json::object reversed;
            for (auto it = o.end(); it != o.begin();) {
                --it;
                reversed[it->key()] = it->value();
            }
            const std::string text =
                at.empty() ? json::serialize(reversed) : with(t.body, at, json::serialize(reversed));
            bool counts = false;
            for (const std::string_view top : t.ordered) {
                if (!below(at, top)) continue;
                counts = true;
                seen.insert(top);
            }
            CAPTURE(t.dialect);
            CAPTURE(at);
            CHECK((digest_of(t, text) != base) == counts);
        });
        CHECK(seen.size() == t.ordered.size());
    }
}

TEST_CASE("order-kept places ignore nothing: a schema may have any key") {
    for (const fields::table& t : tables()) {
        const digest base = digest_of(t, t.body);
        for (const std::string_view at : t.ordered) {
            CAPTURE(at);
            for (const std::string_view name : {"stream", "user", "metadata", "cache_control"}) {
                CHECK(digest_of(t, with(t.body, std::string(at) + "/" + std::string(name), "{}")) != base);
            }
        }
    }
}

TEST_CASE("the headers that count: as a set, each value another request; all others change nothing") {
    for (const fields::table& t : tables()) {
        const digest base = ask(t, t.body).request;
        for (const std::string_view name : t.headers) {
            CAPTURE(name);
            const digest one = ask(t, t.body, name, "a,b").request;
            CHECK(one != base);
            CHECK(one != ask(t, t.body, name, "a").request);
            CHECK(one == ask(t, t.body, name, " b , a,b").request);
        }
        for (const std::string_view name :
             {"user-agent", "x-stainless-retry-count", "x-request-id", "traceparent", "idempotency-key", "x-app",
              "anthropic-dangerous-direct-browser-access", "accept", "cookie"}) {
            CAPTURE(name);
            CHECK(ask(t, t.body, name, "a").request == base);
        }
    }
}

TEST_CASE("one body asked of two APIs is two requests") {
    const std::string body =
        R"({"model":"m","messages":[{}],"prompt":"x","input":"x","content":"x","text":"x","query":"x","documents":["x"]})";
    std::set<digest> seen;
    std::set<std::string_view> paths;
    std::size_t asked_of = 0;
    for (const fields::table& t : tables()) {
        if (!paths.insert(t.path).second) continue;  // the body tells who is meant
        const asked a = ask(t, body);
        if (a.refuse != reason::none) continue;
        ++asked_of;
        CHECK(seen.insert(a.request).second);
    }
    CHECK(asked_of >= 12);
    CHECK(seen.insert(ask({.dialect = {}, .path = "/completions"}, body).request).second);
    CHECK(seen.insert(ask({.dialect = {}, .path = "/embeddings"}, body).request).second);
}

TEST_CASE("the engine decides whose short paths are") {
    auto configuration = std::make_shared<gateway::config::configuration>();
    gateway::config::replica at{.id = "a"};
    configuration->upstreams = {{.name = "u", .replicas = {at}}};
    configuration->policies = {{.name = "relaxed", .base = "relaxed"}};
    configuration->routes = {{.name = "r", .upstream = "u", .policy = "relaxed"}};
    const auto name_of = [&](std::string_view engine, std::string_view base, std::string_view path,
                             std::string_view body) {
        configuration->upstreams[0].engine = engine;
        configuration->upstreams[0].replicas[0].at.base_path = base;
        const plan routes(configuration);
        identifier identifies;
        upstream::http::request_head head;
        head.method = "POST";
        head.target = path;
        const identity id = identifies.identify(head, body, 0, 1U << 20U, &routes);
        REQUIRE(id.api);
        CHECK(id.route);
        return std::string(id.api->name());
    };
    const std::string_view body = R"({"model":"m","prompt":"x","input":"x"})";
    CHECK(name_of("llamacpp", "", "/completions", body) == "llamacpp.completion");
    CHECK(name_of("llamacpp", "/proxy", "/embeddings", body) == "llamacpp.embedding");
    CHECK(name_of("llamacpp", "/v1", "/completions", body) == "openai.completions");
    CHECK(name_of("llamacpp", "", "/v1/completions", body) == "openai.completions");
    CHECK(name_of("vllm", "", "/completions", body) == "openai.completions");
    CHECK(name_of("generic", "", "/embeddings", body) == "openai.embeddings");
    CHECK(name_of("generic", "", "/embeddings", R"({"content":"x"})") == "llamacpp.embedding");
}

TEST_CASE("servers that read bodies by any content type have them cached by any") {
    identifier identifies;
    const auto refused = [&](std::string_view path, std::string_view body) {
        upstream::http::request_head head;
        head.method = "POST";
        head.target = path;
        head.headers.add("content-type", "application/x-www-form-urlencoded");  // `curl -d` and nothing else
        return identifies.identify(head, body, 0, 1U << 20U).refuse;
    };
    CHECK(refused("/api/generate", R"({"model":"m","prompt":"x"})") == reason::none);
    CHECK(refused("/completion", R"({"prompt":"x"})") == reason::none);
    CHECK(refused("/completion", "prompt=x") == reason::body_not_json);
    CHECK(refused("/v1/completions", R"({"model":"m","prompt":"x"})") == reason::content_type);
}

TEST_CASE("Gemini's target: model and version count, method, form and credential do not, nor does what asks for them") {
    const std::string body = R"({"contents":[]})";
    const auto digest_at = [&](std::string_view target) {
        const fields::table t{"gemini.generate", target, body, {}, {}, {}, {}, {}};
        return digest_of(t, body);
    };
    const digest base = digest_at("/v1beta/models/m:generateContent");
    for (const std::string_view same :
         {"/v1beta/models/m:streamGenerateContent?alt=sse", "/v1beta/models/m:generateContent?key=secret",
          "/v1beta/models/m:streamGenerateContent?key=other&alt=sse", "/v1beta/models/m:generateContent?alt=json"}) {
        CAPTURE(same);
        CHECK(digest_at(same) == base);
    }
    for (const std::string_view other :
         {"/v1beta/models/n:generateContent", "/v1/models/m:generateContent", "/v1beta/tunedModels/m:generateContent",
          "/v1beta/models/m:generateContent?fields=candidates",
          "/v1beta/models/m:generateContent?$prettyPrint=false"}) {
        CAPTURE(other);
        CHECK(digest_at(other) != base);
    }
    const fields::table array{"gemini.generate", "/v1beta/models/m:streamGenerateContent", body, {}, {}, {}, {}, {}};
    CHECK(ask(array, body).refuse == reason::form_unsupported);
}
