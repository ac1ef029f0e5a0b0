#include "upstream/engine/profile.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "upstream/dialect/dialect.hpp"
#include "upstream/dialect/json_text.hpp"

using namespace idem::upstream;

namespace {

std::vector<std::string> split(std::string_view words) {
    std::vector<std::string> out;
    for (;;) {
        const auto end = std::min(words.find('|'), words.size());
        out.emplace_back(words.substr(0, end));
        if (end == words.size()) return out;
        words.remove_prefix(end + 1);
    }
}

}  // namespace

TEST_CASE("profiles are found by name, are sorted, and name their evidence") {
    const auto profiles = engine::all();
    CHECK(std::is_sorted(profiles.begin(), profiles.end(), [](auto a, auto b) { return a->name < b->name; }));
    for (const engine::profile* p : profiles) {
        CHECK(engine::find(p->name) == p);
        CHECK_FALSE(p->evidence.empty());
        CHECK(engine::known(p->name));
    }
    CHECK(engine::find("vllm") == &engine::vllm);
    CHECK(engine::find("VLLM") == nullptr);
    CHECK(engine::find("") == nullptr);
}

TEST_CASE("what somebody else runs is hosted, and nothing strict") {
    std::set<std::string_view> hosted, strict;
    for (const engine::profile* p : engine::all()) {
        if (p->hosted) hosted.insert(p->name);
        if (p->strict) strict.insert(p->name);
    }
    CHECK(hosted == std::set<std::string_view>{"anthropic", "azure", "gemini", "mistral", "openai"});
    CHECK(strict == std::set<std::string_view>{"llamacpp", "sglang", "vllm"});
}

TEST_CASE("the words that name an engine are the profiles") {
    const auto words = split(engine::names);
    CHECK(words.size() == engine::all().size());
    for (const std::string& name : words) CHECK(engine::known(name));
    for (const auto* name : {"", "vll", "vllm|sglang", "|", "VLLM", "simulated"}) CHECK_FALSE(engine::known(name));
}

TEST_CASE("an engine with a promise has what it takes to keep it") {
    for (const engine::profile* p : engine::all()) {
        CAPTURE(p->name);
        CHECK(p->strict == !p->reset.empty());
        CHECK(p->strict == std::ranges::any_of(p->requests, &engine::request_form::strict));
        CHECK(p->seeds == std::ranges::any_of(p->requests, [](const auto& f) { return !f.seed.empty(); }));
        for (const engine::request_form& f : p->requests) {
            for (const std::string& name : split(f.dialects)) {
                CHECK(dialect::by_name(name) != nullptr);
                CHECK(engine::samples(name));
                CHECK(p->form_of(name) == &f);
            }
            // Strict needs a seed in the body, and either a salt or a rule that turns the prefix cache off.
            if (f.strict) CHECK((!f.salt.empty() || p->name == "llamacpp"));
            if (f.strict) CHECK_FALSE(f.seed.empty());
        }
    }
    CHECK(engine::vllm.form_of("openai") == nullptr);
    CHECK(engine::vllm.form_of("") == nullptr);
}

TEST_CASE("a rule says what its kind needs, in JSON") {
    using kind = engine::request_rule::kind;
    for (const engine::profile* p : engine::all()) {
        for (const engine::request_form& f : p->requests) {
            std::set<std::pair<std::string_view, bool>> places;
            for (const engine::request_rule& r : f.rules) {
                CAPTURE(p->name);
                CAPTURE(r.at);
                CHECK(r.at.starts_with('/'));
                CHECK(std::ranges::count(r.at, '/') <= 2);
                CHECK(r.at.find_first_of("~*\"") == std::string_view::npos);
                const bool strict = r.when != engine::request_rule::under::seeded;
                if (r.is == kind::set || r.is == kind::neutralise || r.is == kind::apart)
                    CHECK(dialect::is_json(r.value));
                if (r.is == kind::supply) CHECK(dialect::is_json(r.value) == strict);
                if (r.is == kind::forbid || r.is == kind::single) CHECK(r.value.empty());
                for (const std::string_view same : r.same) {
                    if (!same.empty()) CHECK(dialect::is_json(same));
                }
                // One rule a place, under each policy.
                if (strict) CHECK(places.emplace(r.at, true).second);
                if (r.when != engine::request_rule::under::strict) CHECK(places.emplace(r.at, false).second);
            }
        }
    }
}

TEST_CASE("calls in which nothing is sampled") {
    std::set<std::string_view> not_sampled;
    for (const dialect::dialect* d : dialect::all()) {
        if (!engine::samples(d->name())) not_sampled.insert(d->name());
    }
    CHECK(not_sampled.size() == 11);
    CHECK(not_sampled.contains("rerank"));
    CHECK(engine::samples("openai.images"));
    CHECK(engine::samples("openai.speech"));
}
