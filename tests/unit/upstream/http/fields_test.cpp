#include "upstream/http/fields.hpp"

#include <doctest/doctest.h>

using namespace idem::upstream::http;

TEST_CASE("fields keep order and spelling and compare names without case") {
    fields f;
    f.add("Content-Type", "application/json");
    f.add("X-A", "1");
    f.add("x-a", "2");
    CHECK(f.size() == 3);
    CHECK(f.find("content-type") == "application/json");
    CHECK(f.find("X-a") == "1");
    CHECK(f.count("x-A") == 2);
    CHECK(f[2].name == "x-a");
    CHECK_FALSE(f.find("X").has_value());
    CHECK(f.remove("X-A") == 2);
    CHECK(f.size() == 1);
    CHECK(f[0].value == "application/json");
}

TEST_CASE("a field may be copied from the same object even when that makes it grow") {
    fields f;
    f.add("name", std::string(300, 'v'));
    for (int i = 0; i < 20; ++i) {
        const auto [name, value] = f[f.size() - 1];
        f.add(name, value);
    }
    for (const auto [name, value] : f) {
        CHECK(name == "name");
        CHECK(value == std::string(300, 'v'));
    }
}

TEST_CASE("clear keeps nothing visible and release_above gives memory back") {
    fields f;
    f.add("a", std::string(10000, 'x'));
    f.clear();
    CHECK(f.empty());
    f.add("b", "y");
    CHECK(f.find("b") == "y");
    f.release_above(4096);
    CHECK(f.empty());
}

TEST_CASE("list_has finds whole tokens only") {
    CHECK(list_has("close", "Close"));
    CHECK(list_has("keep-alive , TE\t,x", "te"));
    CHECK(list_has(",, close", "close"));
    CHECK_FALSE(list_has("closed", "close"));
    CHECK_FALSE(list_has("not close", "close"));
    CHECK_FALSE(list_has("", "close"));
}

TEST_CASE("held fields share one copy of the head") {
    fields f;
    f.add("Before", "1");
    const std::string_view held = f.hold("Name: value");
    f.add_held(held.substr(0, 4), held.substr(6));
    CHECK(f.size() == 2);
    CHECK(f.find("name") == "value");
    CHECK(f.find("before") == "1");
    f.add("After", "2");
    CHECK(f.find("name") == "value");
}
