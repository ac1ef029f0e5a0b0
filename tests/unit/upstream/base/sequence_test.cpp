#include "upstream/base/sequence.hpp"

#include <doctest/doctest.h>

TEST_CASE("the published numbers of SplitMix64") {
    idem::sequence of_zero(0), of_seed(1234567);
    CHECK(of_zero() == 0xe220a8397b1dcdafU);
    CHECK(of_zero() == 0x6e789e6aa1b965f4U);
    CHECK(of_zero() == 0x06c45d188009454fU);
    CHECK(of_seed() == 6457827717110365317U);
    CHECK(of_seed() == 3203168211198807973U);
}
