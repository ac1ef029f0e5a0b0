#include "upstream/client/credential.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/support/temp_dir.hpp"

using namespace idem::upstream;
using client::credential;
using namespace std::chrono_literals;

namespace {

const net::time_point start{1h};

}  // namespace

TEST_CASE("a secret's file may end with a line break, and hold nothing that a field cannot") {
    CHECK(client::secret_in("abc") == "abc");
    CHECK(client::secret_in(" \tabc def\r\n") == "abc def");
    for (const std::string_view none : {"", " \n", "a\nb", "a\rb", "a\x01"}) CHECK_FALSE(client::secret_in(none));
    CHECK_FALSE(client::secret_in(std::string(100'000, 'x')));
    CHECK_FALSE(client::secret_in(std::string_view("a\0b", 3)));
}

TEST_CASE("nobody's, or a value with its prefix") {
    CHECK_FALSE(credential({}).own());
    credential bearer({"Authorization", "Bearer ", "abc", ""});
    CHECK(bearer.own());
    CHECK(bearer.header() == "Authorization");
    CHECK(bearer.field(start) == "Bearer abc");
}

TEST_CASE("a file is read again, and what cannot be used leaves the last value") {
    const idem::test::temp_dir dir;
    const auto file = dir.path() / "token";
    const auto write = [&](std::string_view text) { std::ofstream(file, std::ios::trunc) << text; };
    credential from({"x-api-key", "", "", file.string()});
    CHECK(from.field(start).empty());
    write("one\n");
    CHECK(from.field(start + 900ms).empty());  // looked a moment ago
    CHECK(from.field(start + 1s) == "one");
    write("two\n");
    CHECK(from.field(start + 2s) == "two");
    write("");
    CHECK(from.field(start + 3s) == "two");
    std::filesystem::remove(file);
    CHECK(from.field(start + 4s) == "two");
    write("three");
    CHECK(from.field(start + 5s) == "three");
}
