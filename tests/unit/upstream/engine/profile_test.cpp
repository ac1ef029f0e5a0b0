#include "upstream/engine/profile.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace idem::upstream;

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

TEST_CASE("only what somebody else runs is hosted") {
    for (const engine::profile* p : engine::all()) CHECK(p->hosted == (p->name == "openai"));
}

TEST_CASE("the words that name an engine") {
    for (const auto* name : {"vllm", "sglang", "llamacpp", "ollama", "tgi", "trtllm", "lmdeploy", "openai", "azure",
                             "anthropic", "gemini", "mistral", "generic"})
        CHECK(engine::known(name));
    for (const auto* name : {"", "vll", "vllm|sglang", "|", "VLLM", "simulated"}) CHECK_FALSE(engine::known(name));
    CHECK(std::count(engine::names.begin(), engine::names.end(), '|') == 12);
}
