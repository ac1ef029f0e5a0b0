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
    }
    CHECK(engine::find("vllm") == &engine::vllm);
    CHECK(engine::find("VLLM") == nullptr);
    CHECK(engine::find("") == nullptr);
}

TEST_CASE("only what somebody else runs is hosted") {
    for (const engine::profile* p : engine::all()) CHECK(p->hosted == (p->name == "openai"));
}
