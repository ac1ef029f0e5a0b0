#include "cache/policy/proof.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

using namespace idem;
using cache::proof_table;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

digest credential(int i) {
    return sha256(std::to_string(i));
}
proof_table::time_point at(std::chrono::seconds s) {
    return proof_table::time_point{} + s;
}

}  // namespace

TEST_CASE("a credential is proven for ten minutes after its last success") {
    proof_table t;
    CHECK_FALSE(t.proven(credential(1), at(seconds(0))));
    t.accepted(credential(1), at(seconds(0)));
    CHECK(t.proven(credential(1), at(seconds(599))));
    CHECK_FALSE(t.proven(credential(1), at(seconds(600))));
    CHECK_FALSE(t.proven(credential(2), at(seconds(0))));
    t.accepted(credential(1), at(seconds(500)));
    CHECK(t.proven(credential(1), at(seconds(1000))));
}

TEST_CASE("a refusal closes it until the next success") {
    proof_table t;
    CHECK_FALSE(t.closed(credential(1)));
    t.accepted(credential(1), at(seconds(0)));
    t.refused(credential(1), at(seconds(1)));
    CHECK(t.closed(credential(1)));
    CHECK_FALSE(t.proven(credential(1), at(seconds(1))));
    CHECK_FALSE(t.closed(credential(2)));
    t.refused(credential(1), at(seconds(2)));
    t.accepted(credential(1), at(seconds(3)));
    CHECK_FALSE(t.closed(credential(1)));
    CHECK(t.proven(credential(1), at(seconds(3))));
}

TEST_CASE("the table is bounded, and the newest records stay") {
    proof_table t(1600);
    for (int i = 0; i < 20'000; ++i) t.accepted(credential(i), at(seconds(i / 100)));
    CHECK(t.size() <= 1600);
    CHECK(t.proven(credential(19'999), at(seconds(200))));
    proof_table refusals(16);
    for (int i = 0; i < 1000; ++i) refusals.refused(credential(i), at(seconds(i)));
    CHECK(refusals.size() <= 16);
    CHECK(refusals.closed(credential(999)));
    for (int i = 0; i < 1000; ++i) refusals.accepted(credential(i), at(seconds(1000 + i)));
    for (int i = 0; i < 1000; ++i) CHECK_FALSE(refusals.closed(credential(i)));
}

TEST_CASE("threads write and read at once") {
    proof_table t(256);
    std::vector<std::thread> threads;
    for (int n = 0; n < 4; ++n) {
        threads.emplace_back([&t, n] {
            for (int i = 0; i < 5000; ++i) {
                t.accepted(credential(i % 700), at(seconds(i)));
                if (i % 3 == n % 3) t.refused(credential(i % 500), at(seconds(i)));
                static_cast<void>(t.proven(credential(i % 900), at(seconds(i))));
                static_cast<void>(t.closed(credential(i % 900)));
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(t.size() <= 256);
}
