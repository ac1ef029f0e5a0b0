#include "cache/request/difference.hpp"

#include <doctest/doctest.h>

#include <string>

#include "cache/request/canonical.hpp"

using namespace idem::cache;

namespace {

std::string said(std::string_view a, std::string_view b, std::size_t limit = 100) {
    const differences d = compare_canonical(a, b, limit);
    std::string out;
    for (const difference& one : d.list) {
        static constexpr std::string_view names[] = {"!", "-", "+", "~"};
        out.append(names[static_cast<std::size_t>(one.what)]).append(one.pointer).append(" ");
    }
    return out + (d.more ? "more" : "");
}

}  // namespace

TEST_CASE("equal bodies differ nowhere") {
    CHECK(said("{}", "{}") == "");
    CHECK(said(R"({"a":[1,{"b":null}]})", R"({"a":[1,{"b":null}]})") == "");
}

TEST_CASE("every kind of difference is found where it is") {
    CHECK(said(R"({"a":1,"b":2})", R"({"a":1,"b":3})") == "!/b ");
    CHECK(said(R"({"a":1,"b":2})", R"({"a":1})") == "-/b ");
    CHECK(said(R"({"a":1})", R"({"a":1,"b":2})") == "+/b ");
    CHECK(said(R"({"a":{"b":[1,2]}})", R"({"a":{"b":[1,3,4]}})") == "!/a/b/1 +/a/b/2 ");
    CHECK(said(R"({"a":[1,2,3]})", R"({"a":[1]})") == "-/a/1 -/a/2 ");
    CHECK(said(R"({"a":{}})", R"({"a":[]})") == "!/a ");
    CHECK(said(R"({"a":"1"})", R"({"a":1})") == "!/a ");
    CHECK(said(R"({"t":{"x":1,"y":2}})", R"({"t":{"y":2,"x":1}})") == "~/t ");
    CHECK(said(R"({"t":{"x":1,"y":2}})", R"({"t":{"y":2,"x":3}})") == "!/t/x ");
}

TEST_CASE("pointers are escaped, and keys read as text") {
    CHECK(said(R"({"a/b":{"c~d":1}})", R"({"a/b":{"c~d":2}})") == "!/a~1b/c~0d ");
    CHECK(said(R"({"\n\"":1})", R"({"\n\"":2})") == "!/\n\" ");
    CHECK(said(R"({"":1})", R"({"":2})") == "!/ ");
}

TEST_CASE("values are handed out, and the list is bounded") {
    const differences d = compare_canonical(R"({"a":[1,2]})", R"({"a":[1,"x"]})");
    REQUIRE(d.list.size() == 1);
    CHECK(d.list[0].a == "2");
    CHECK(d.list[0].b == "\"x\"");
    CHECK(said(R"({"a":1,"b":1,"c":1})", R"({"a":2,"b":2,"c":2})", 2) == "!/a !/b more");
    CHECK(said(R"({"a":1,"b":1})", R"({"a":2,"b":2})", 2) == "!/a !/b ");
}
