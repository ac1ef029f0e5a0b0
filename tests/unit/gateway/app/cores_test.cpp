#include "gateway/app/cores.hpp"

#include <doctest/doctest.h>

using namespace idem::gateway::app;

TEST_CASE("cpu.max gives whole cores, rounded up") {
    CHECK(cores_of_cpu_max("200000 100000") == 2);
    CHECK(cores_of_cpu_max("150000 100000\n") == 2);
    CHECK(cores_of_cpu_max("50000 100000") == 1);
    CHECK_FALSE(cores_of_cpu_max("max 100000"));
    CHECK_FALSE(cores_of_cpu_max(""));
    CHECK_FALSE(cores_of_cpu_max("100000"));
    CHECK_FALSE(cores_of_cpu_max("100000 0"));
}

TEST_CASE("there is always a core") {
    CHECK(usable_cores() >= 1);
}
