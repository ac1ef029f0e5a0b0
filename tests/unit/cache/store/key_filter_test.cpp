#include "cache/store/key_filter.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

using namespace idem;
using namespace idem::cache;

namespace {

cache_key key(const char* prefix, int i) {
    return {sha256(prefix + std::to_string(i))};
}

}  // namespace

TEST_CASE("a key that was added is never denied") {
    key_filter filter(1000);
    for (int i = 0; i < 5000; ++i) filter.add(key("in", i));
    for (int i = 0; i < 5000; ++i) CHECK(filter.may_hold(key("in", i)));
}

TEST_CASE("filled as planned it says perhaps to one stranger in a hundred at most") {
    key_filter filter(20'000);
    for (int i = 0; i < 20'000; ++i) filter.add(key("in", i));
    int perhaps = 0;
    for (int i = 0; i < 20'000; ++i) perhaps += filter.may_hold(key("out", i));
    CHECK(perhaps < 200);
    filter.clear();
    for (int i = 0; i < 1000; ++i) CHECK_FALSE(filter.may_hold(key("in", i)));
}

TEST_CASE("the smallest filter works") {
    key_filter filter(0);
    CHECK_FALSE(filter.may_hold(key("in", 0)));
    filter.add(key("in", 0));
    CHECK(filter.may_hold(key("in", 0)));
}

TEST_CASE("keys may be added and asked for at once") {
    key_filter filter(10'000);
    std::vector<std::thread> threads;
    std::atomic<int> denied{0};
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 2000; ++i) {
                filter.add(key("in", i * 4 + t));
                denied += !filter.may_hold(key("in", i * 4 + t));
            }
        });
    for (auto& thread : threads) thread.join();
    CHECK(denied == 0);
}
