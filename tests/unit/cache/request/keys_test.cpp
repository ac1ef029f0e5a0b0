// The key vectors: what clients in other languages can reproduce. tests/lint/check_keys.py holds the same file against
// a second implementation.
#include <doctest/doctest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cache/request/canonical.hpp"
#include "cache/request/key.hpp"
#include "cache/request/rewrite.hpp"
#include "upstream/dialect/batching.hpp"

using namespace idem;
namespace json = boost::json;

namespace {

const json::object& golden() {
    static const json::value file = [] {
        std::ifstream in(IDEM_SOURCE_DIR "/tests/golden/keys.json");
        std::ostringstream text;
        text << in.rdbuf();
        return json::parse(text.str());
    }();
    return file.as_object();
}

std::string_view text(const json::object& o, const char* name) {
    const json::string& s = o.at(name).as_string();
    return {s.data(), s.size()};
}

std::vector<std::string_view> texts(const json::value& array) {
    std::vector<std::string_view> out;
    for (const json::value& v : array.as_array()) out.emplace_back(v.as_string().data(), v.as_string().size());
    return out;
}

// What a policy makes of the body, as a vector describes it.
std::string changed(const std::string& body, const json::object& changes, const json::object& rules) {
    const auto wants = [&](const char* name) { return changes.contains(name) && changes.at(name).as_bool(); };
    std::vector<std::string> stripped;
    for (const std::string_view pointer : texts(changes.at("strip_pointers"))) stripped.emplace_back(pointer);
    const cache::rewriting by{cache::rule_set(stripped, texts(rules.at("prompt_text"))),
                              {wants("nfc"), wants("collapse_whitespace"), wants("trim")}};
    cache::rewriter rewriter;
    return std::string(rewriter.rewrite(body, by).value_or(body));
}

}  // namespace

TEST_CASE("request digests and keys equal the published vectors") {
    REQUIRE(text(golden(), "key_version") == cache::key_version);
    cache::canonicalizer c;
    for (const json::value& entry : golden().at("vectors").as_array()) {
        const json::object& v = entry.as_object();
        CAPTURE(std::string(text(v, "name")));
        const json::object& rules = v.at("rules").as_object();
        const auto ignored = texts(rules.at("ignored")), kept = texts(rules.at("order_kept"));
        const auto statements = texts(v.at("treatment"));

        cache::request_parts request;
        request.dialect = text(v, "dialect");
        request.method = text(v, "method");
        request.path = text(v, "path");
        request.query = text(v, "query");
        for (const json::value& header : v.at("headers").as_array()) {
            const auto pair = texts(header);
            request.headers.emplace_back(pair[0], pair[1]);
        }
        request.sample = static_cast<std::uint32_t>(v.at("sample").as_int64());
        request.treatment = cache::treatment_digest(statements);
        std::string body(text(v, "body"));
        if (const json::value* changes = v.if_contains("changes")) body = changed(body, changes->as_object(), rules);
        request.body = c.canonicalize(body, upstream::dialect::body_rules{ignored, kept}).text;
        CHECK(std::string(request.body) == std::string(text(v, "canonical")));
        CHECK(to_hex(request.treatment.bytes) == text(v, "treatment_digest"));

        cache::key_parts key;
        key.request = cache::request_digest(request);
        CHECK(to_hex(key.request.bytes) == text(v, "request_digest"));
        key.scope = *digest_from_hex(text(v, "scope"));
        key.name_space = text(v, "namespace");
        key.upstream = text(v, "upstream");
        key.epoch = *id128_from_hex(text(v, "epoch"));
        key.secret = text(v, "secret");
        CHECK(to_hex(cache::make_key(key).value.bytes) == text(v, "key"));
    }
}

TEST_CASE("the digests of what a batch asks for equal the published vectors") {
    const upstream::dialect::batching& by = *upstream::dialect::by_name("openai.embeddings")->batches();
    for (const json::value& entry : golden().at("batches").as_array()) {
        const json::object& v = entry.as_object();
        CAPTURE(std::string(text(v, "name")));
        const std::string_view canonical = text(v, "canonical");
        const auto items = by.items(canonical);
        CHECK(items == texts(v.at("items")));
        const std::string rest = by.without_items(canonical);
        CHECK(rest == text(v, "rest"));

        cache::request_parts request;
        request.dialect = text(v, "dialect");
        request.method = text(v, "method");
        request.path = text(v, "path");
        request.query = text(v, "query");
        request.sample = static_cast<std::uint32_t>(v.at("sample").as_int64());
        request.treatment = cache::treatment_digest(texts(v.at("treatment")));
        request.body = rest;
        const std::vector<digest> digests = cache::item_digests(request, items);
        std::vector<std::string> hex;
        for (const digest& d : digests) hex.push_back(to_hex(d.bytes));
        const auto published = texts(v.at("item_digests"));
        CHECK(std::ranges::equal(hex, published));
        // What they share is no request, and what one asks for is no item.
        CHECK(std::ranges::find(digests, cache::request_digest(request)) == digests.end());
        request.body = canonical;
        CHECK(std::ranges::find(digests, cache::request_digest(request)) == digests.end());
    }
}

TEST_CASE("the published refusals are refused for their reason") {
    cache::canonicalizer c;
    for (const json::value& entry : golden().at("refused").as_array()) {
        const json::object& v = entry.as_object();
        CAPTURE(std::string(text(v, "name")));
        CHECK(to_string(c.canonicalize(text(v, "body"), upstream::dialect::body_rules{}).why) == text(v, "reason"));
    }
}

TEST_CASE("every part of a request changes its digest, and none can stand in for another") {
    const std::string_view one[] = {"usage:inject"};
    std::vector<cache::request_parts> parts(1);
    const auto vary = [&](auto change) { change(parts.emplace_back(parts.front())); };
    vary([](auto& p) { p.dialect = "x"; });
    vary([](auto& p) { p.method = "x"; });
    vary([](auto& p) { p.path = "x"; });
    vary([](auto& p) { p.query = "x"; });
    vary([](auto& p) { p.body = "x"; });
    vary([](auto& p) { p.sample = 1; });
    vary([&](auto& p) { p.treatment = cache::treatment_digest(one); });
    vary([](auto& p) { p.headers = {{"a", "b"}}; });
    vary([](auto& p) { p.headers = {{"ab", ""}}; });
    vary([](auto& p) { p.headers = {{"a", "b"}, {"c", "d"}}; });
    vary([](auto& p) { p.body = "xy"; });
    vary([](auto& p) { p.path = "x", p.query = "y"; });
    std::vector<digest> seen;
    for (const auto& p : parts) seen.push_back(cache::request_digest(p));
    std::sort(seen.begin(), seen.end());
    CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
}

TEST_CASE("every part of a key changes it") {
    std::vector<cache::key_parts> parts(1);
    const auto vary = [&](auto change) { change(parts.emplace_back(parts.front())); };
    vary([](auto& p) { p.request.bytes[0] = 1; });
    vary([](auto& p) { p.scope.bytes[0] = 1; });
    vary([](auto& p) { p.name_space = "x"; });
    vary([](auto& p) { p.upstream = "x"; });
    vary([](auto& p) { p.epoch.bytes[0] = 1; });
    vary([](auto& p) { p.secret = "x"; });
    std::vector<cache::cache_key> seen;
    for (const auto& p : parts) seen.push_back(cache::make_key(p));
    std::sort(seen.begin(), seen.end());
    CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
}

TEST_CASE("derived seeds equal the published vectors") {
    std::ifstream in(IDEM_SOURCE_DIR "/tests/golden/seeds.json");
    std::ostringstream text_of;
    text_of << in.rdbuf();
    const json::value vectors = json::parse(text_of.str());
    REQUIRE(vectors.as_array().size() > 4);
    for (const json::value& entry : vectors.as_array()) {
        const json::object& v = entry.as_object();
        const auto request = digest_from_hex(text(v, "request"));
        REQUIRE(request);
        CHECK(cache::derived_seed(*request) == v.at("seed").to_number<std::uint32_t>());
    }
}
