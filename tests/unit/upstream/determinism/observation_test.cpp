#include "upstream/determinism/observation.hpp"

#include <doctest/doctest.h>

#include <array>

namespace {

using namespace idem::upstream::determinism;
using idem::digest;

digest named(std::uint8_t n) {
    digest d;
    d.bytes[0] = n;
    return d;
}

observation seen(std::uint8_t output, std::uint8_t environment, level promise, bool sampled = false) {
    return {named(output), named(environment), promise, sampled};
}

}  // namespace

TEST_CASE("one output is the same whatever else differs") {
    CHECK(contrast_of(seen(1, 1, level::replica), seen(1, 2, level::none, true)) == contrast::same);
}

TEST_CASE("a broken guarantee in one environment is a divergence, and nothing else is") {
    CHECK(contrast_of(seen(1, 1, level::replica), seen(2, 1, level::replica)) == contrast::divergence);
    CHECK(contrast_of(seen(1, 1, level::replica), seen(2, 1, level::sibling_class)) == contrast::divergence);
    CHECK(contrast_of(seen(1, 1, level::replica), seen(2, 1, level::none)) == contrast::variation);
    CHECK(contrast_of(seen(1, 1, level::none), seen(2, 1, level::none)) == contrast::variation);
}

TEST_CASE("across environments it is drift, with or without a guarantee") {
    CHECK(contrast_of(seen(1, 1, level::replica), seen(2, 2, level::replica)) == contrast::drift);
    CHECK(contrast_of(seen(1, 1, level::none), seen(2, 2, level::none)) == contrast::drift);
}

TEST_CASE("sampled and hosted traffic varies") {
    CHECK(contrast_of(seen(1, 1, level::none, true), seen(2, 1, level::none)) == contrast::variation);
    CHECK(contrast_of(seen(1, 1, level::none, true), seen(2, 2, level::none)) == contrast::variation);
    observation hosted = seen(2, 0, level::none);
    hosted.environment = unwatched_environment();
    CHECK(contrast_of(hosted, seen(1, 1, level::replica)) == contrast::variation);
    observation other = hosted;
    other.output = named(7);
    CHECK(contrast_of(hosted, other) == contrast::variation);
}

TEST_CASE("the order of the two does not matter") {
    std::array<observation, 2 * 3 * 3 * 2> all;
    std::size_t n = 0;
    for (const std::uint8_t output : {std::uint8_t{1}, std::uint8_t{2}})
        for (const std::uint8_t environment : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}})
            for (const level promise : {level::none, level::replica, level::sibling_class})
                for (const bool sampled : {false, true}) {
                    all[n] = seen(output, environment, promise, sampled);
                    if (environment == 3) all[n].environment = unwatched_environment();
                    ++n;
                }
    for (const auto& a : all)
        for (const auto& b : all) {
            CHECK(contrast_of(a, b) == contrast_of(b, a));
            CHECK((contrast_of(a, b) == contrast::same) == (a.output == b.output));
        }
}

TEST_CASE("the words") {
    CHECK(to_string(contrast::same) == "same");
    CHECK(to_string(contrast::divergence) == "divergence");
    CHECK(to_string(contrast::drift) == "drift");
    CHECK(to_string(contrast::variation) == "variation");
}
