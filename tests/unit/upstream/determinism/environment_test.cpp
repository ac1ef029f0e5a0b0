#include "upstream/determinism/environment.hpp"

#include <doctest/doctest.h>

#include "upstream/determinism/guarantee.hpp"
#include "upstream/determinism/reference.hpp"

using namespace idem;
using namespace idem::upstream::determinism;

namespace {

environment with(std::vector<fact> facts) {
    environment e;
    for (fact& f : facts) e.add(std::move(f));
    return e;
}

}  // namespace

TEST_CASE("an environment's id depends on names, values, provenance and unknowns, not on the order of reading") {
    const fact version{"engine_version", "1", provenance::reported}, gpu{"gpu", "H200", provenance::declared};
    CHECK(with({version, gpu}).id() == with({gpu, version}).id());
    CHECK(with({version}).id() != with({version, gpu}).id());
    CHECK(with({version, gpu}).id() != with({version, {"gpu", "H200", provenance::reported}}).id());
    CHECK(with({version, gpu}).id() != with({version, {"gpu", "H100", provenance::declared}}).id());
    CHECK(with({version}).id() != with({version, {"gpu", "", provenance::unknown}}).id());
    CHECK(with({{"a", "bc", provenance::reported}}).id() != with({{"ab", "c", provenance::reported}}).id());
}

TEST_CASE("the id of an environment is fixed for ever") {
    CHECK(to_hex(with({{"engine_version", "0.33.0", provenance::reported},
                       {"gpu", "NVIDIA H200", provenance::declared},
                       {"driver", "", provenance::unknown}})
                     .id()
                     .bytes) == "0b10f1405155244a7f2340b1a4eb0fa70f3e51c31e3367600e0ea6bbc9292451");
}

TEST_CASE("what a server reports stands before what is declared, and that before nothing") {
    environment e = with({{"dtype", "", provenance::unknown}, {"dtype", "bfloat16", provenance::declared}});
    CHECK(e.find("dtype")->value == "bfloat16");
    e.add({"dtype", "float16", provenance::reported});
    CHECK(e.find("dtype")->value == "float16");
    e.add({"dtype", "float32", provenance::declared});
    CHECK(e.find("dtype")->value == "float16");
    CHECK(e.facts().size() == 1);
}

TEST_CASE("locks compare what is known, and what nobody tells keeps none") {
    const requirements by{{{"engine_version", "1"}, {"gpu", "H200"}, {"driver", "580"}}, {"gpu"}};
    const std::vector<std::string_view> expected = {"dtype"};
    const environment e = completed(with({{"engine_version", "2", provenance::reported}}), by, expected);
    CHECK(e.find("gpu")->from == provenance::declared);
    CHECK(e.find("driver")->from == provenance::unknown);
    CHECK(e.find("dtype")->from == provenance::unknown);
    const auto broken = violations(e, by);
    REQUIRE(broken.size() == 2);
    CHECK(broken[0].name == "engine_version");
    CHECK(broken[0].found == "2");
    CHECK(broken[1].name == "driver");
    CHECK(broken[1].found.empty());
}

TEST_CASE("a difference is told by name and by both values") {
    CHECK(difference(with({{"v", "2", provenance::reported}, {"w", "x", provenance::reported}}),
                     with({{"v", "1", provenance::reported}, {"u", "y", provenance::declared}})) ==
          "v is \"2\", was \"1\", w is \"x\", was unknown, u is unknown, was \"y\"");
    CHECK(difference(with({{"v", "1", provenance::reported}}), with({{"v", "1", provenance::reported}})).empty());
}

TEST_CASE("a guarantee needs every circumstance") {
    const circumstances good{.strict = true, .admitted = true, .exclusive = true, .how = isolation::serial, .runs = 3};
    CHECK(guarantee_of(good) == guarantee{level::replica, isolation::serial, 3});
    circumstances c = good;
    c.siblings = 1;
    CHECK(guarantee_of(c).what == level::sibling_class);
    for (auto spoil : std::initializer_list<void (*)(circumstances&)>{
             [](circumstances& x) { x.strict = false; }, [](circumstances& x) { x.weakened = true; },
             [](circumstances& x) { x.admitted = false; }, [](circumstances& x) { x.diverging = true; },
             [](circumstances& x) { x.isolated = false; }, [](circumstances& x) { x.exclusive = false; },
             [](circumstances& x) { x.how = isolation::none; }, [](circumstances& x) { x.runs = 0; }}) {
        c = good;
        spoil(c);
        CHECK(guarantee_of(c) == guarantee{});
    }
    c = good;
    c.how = isolation::batch_invariant;
    c.exclusive = false;
    CHECK(guarantee_of(c).what == level::replica);
}

TEST_CASE("the bound is that of no flip in so many runs") {
    CHECK(flip_bound(0) == 1.0);
    CHECK(flip_bound(200) == doctest::Approx(0.0149).epsilon(0.01));
    CHECK(flip_bound(299) == doctest::Approx(0.01).epsilon(0.01));
    std::string out;
    append(out, {level::replica, isolation::serial, 9});
    CHECK(out == "replica; mode=serial; runs=9; bound=0.2831");
    out.clear();
    append(out, {});
    CHECK(out == "none");
}

TEST_CASE("runs of one attestation that differ are told by the prompt") {
    attestation_run run({"a", "b"});
    CHECK(run.take(0, {sha256("x"), 3}));
    CHECK(run.take(1, {sha256("y"), 4}));
    CHECK(run.take(0, {sha256("x"), 3}));
    SUBCASE("steady") {
        CHECK(run.take(1, {sha256("y"), 4}));
        const attestation a = std::move(run).finish(2);
        CHECK(a.what == attestation::result::steady);
        CHECK(a.outputs.size() == 2);
        CHECK(a.runs == 2);
    }
    SUBCASE("flipped") {
        CHECK(!run.take(1, {sha256("z"), 4}));
        const attestation a = std::move(run).finish(2);
        CHECK(a.what == attestation::result::flipped);
        CHECK(a.detail.find("b") != std::string::npos);
    }
    SUBCASE("drifted") {
        CHECK(!run.take(1, {sha256("z"), 5}));
        CHECK(std::move(run).finish(2).what == attestation::result::drifted);
    }
    SUBCASE("failed") {
        run.fail(1, "HTTP 500");
        CHECK(std::move(run).finish(2).what == attestation::result::failed);
    }
}

TEST_CASE("a majority is more than half of all replicas, not of those that answered") {
    const attestation one{attestation::result::steady, {{sha256("1"), 1}}, 1, {}};
    const attestation two{attestation::result::steady, {{sha256("2"), 1}}, 1, {}};
    std::vector<const attestation*> given = {&one};
    CHECK(majority(given, 1) == &one);
    CHECK(!majority(given, 2));
    given = {&one, &two};
    CHECK(!majority(given, 2));
    given = {&two, &one, &one};
    CHECK(majority(given, 3) == &one);
    CHECK(!majority(given, 4));
}
