#include "gateway/pipeline/concurrency.hpp"

#include <doctest/doctest.h>

using namespace idem::gateway;
using pipeline::concurrency_of;
using rule = config::concurrency::rule;

namespace {

config::configuration with(std::string engine, std::string base, config::concurrency c = {}) {
    config::configuration all;
    config::upstream_pool up;
    up.name = "up";
    up.engine = std::move(engine);
    up.concurrency = c;
    all.upstreams = {up};
    config::policy p;
    p.name = "mine";
    p.base = std::move(base);
    all.policies = {p};
    config::route r;
    r.upstream = "up";
    r.policy = "mine";
    all.routes = {r};
    return all;
}

pipeline::concurrency_plan of(const config::configuration& all) {
    return concurrency_of(all, all.upstreams[0]);
}

}  // namespace

TEST_CASE("nothing is limited where no strict route leads there") {
    for (const auto engine : {"llamacpp", "vllm", "generic"}) {
        CHECK(of(with(engine, "relaxed")).mode == rule::unlimited);
        CHECK(of(with(engine, "relaxed")).slots.unlimited());
    }
    auto other = with("llamacpp", "strict");
    other.routes[0].upstream = "another";
    CHECK(of(other).mode == rule::unlimited);
}

TEST_CASE("a strict route takes the mode of the engine's profile") {
    CHECK(of(with("llamacpp", "strict")).mode == rule::serial);
    CHECK(of(with("llamacpp", "strict")).slots.at_once == 1);
    CHECK(of(with("llamacpp", "strict")).shares_by_lease());
}

TEST_CASE("what is configured wins") {
    CHECK(of(with("llamacpp", "strict", {.mode = rule::unlimited})).slots.unlimited());
    CHECK(of(with("generic", "relaxed", {.mode = rule::serial})).slots.at_once == 1);
    const auto some = of(with("vllm", "strict", {.mode = rule::batch_invariant, .per_replica = 8, .queue = 3}));
    CHECK(some.slots.at_once == 8);
    CHECK(some.slots.queue == 3);
    CHECK_FALSE(some.slots.no_mixing);
    CHECK_FALSE(some.shares_by_lease());
    CHECK(of(with("vllm", "strict", {.mode = rule::batch_invariant})).slots.unlimited());
}

TEST_CASE("an engine that chooses its sampler a batch gets one kind of calls at a time") {
    const auto sglang = of(with("sglang", "relaxed", {.mode = rule::batch_invariant}));
    CHECK(sglang.slots.no_mixing);
    CHECK_FALSE(sglang.slots.unlimited());
    CHECK_FALSE(of(with("sglang", "relaxed")).slots.no_mixing);
}
