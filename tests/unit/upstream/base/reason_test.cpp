#include "upstream/base/reason.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

using namespace idem;

TEST_CASE("the list of reasons is the frozen one, in its order") {
    std::ifstream file(IDEM_SOURCE_DIR "/tests/golden/reasons.txt");
    std::vector<std::string> frozen, ours;
    for (std::string line; std::getline(file, line);) frozen.push_back(line);
    for (int i = 1; i < static_cast<int>(reason::count_); ++i) ours.emplace_back(to_string(static_cast<reason>(i)));
    CHECK(ours == frozen);
}

TEST_CASE("every reason has a word of its own, fit for a metric label") {
    std::set<std::string_view> seen;
    for (int i = 1; i < static_cast<int>(reason::count_); ++i) {
        const std::string_view word = to_string(static_cast<reason>(i));
        CHECK_FALSE(word.empty());
        CHECK(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == std::string_view::npos);
        CHECK(seen.insert(word).second);
    }
    CHECK(to_string(reason::none).empty());
    CHECK(to_string(reason::count_).empty());
}

TEST_CASE("reasons stand where the enum has them") {
    CHECK(to_string(reason::not_cacheable_path) == "not_cacheable_path");
    CHECK(to_string(reason::status_not_ok) == "status_not_ok");
    CHECK(to_string(reason::store_open_breaker) == "store_open_breaker");
    CHECK(to_string(reason::only_if_cached) == "only_if_cached");
    CHECK(to_string(reason::client_gone) == "client_gone");
}
