#include "cache/state/bindings.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace idem;
using namespace idem::cache;

TEST_CASE("the first binding holds until its time is over") {
    bindings b;
    const digest name = sha256("name"), first = sha256("first"), second = sha256("second");
    CHECK(b.bind({name, first, 100}, 0) == first);
    CHECK(b.bind({name, second, 200}, 99) == first);
    CHECK(b.bind({sha256("other"), second, 100}, 0) == second);
    CHECK(b.bind({name, second, 200}, 100) == second);
    CHECK(b.bind({name, first, 300}, 199) == second);
}

TEST_CASE("beyond the cap the oldest names go") {
    bindings b(3);
    const digest value = sha256("value"), other = sha256("other");
    for (int i = 0; i < 4; ++i) CHECK(b.bind({sha256(std::to_string(i)), value, 100}, 0) == value);
    CHECK(b.bind({sha256("3"), other, 100}, 0) == value);
    CHECK(b.bind({sha256("1"), other, 100}, 0) == value);
    CHECK(b.bind({sha256("0"), other, 100}, 0) == other);
}
