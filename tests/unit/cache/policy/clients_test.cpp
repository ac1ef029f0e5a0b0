#include "cache/policy/clients.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace idem;
using cache::client_table;
using upstream::http::fields;

namespace {

std::string hash_of(std::string_view key) {
    return to_hex(sha256(key).bytes);
}

client_table table() {
    const auto loaded = client_table::load("# callers\n\nalpha " + hash_of("k1") + " " + hash_of("k2") +
                                           "  # two while rotating\r\n" + "beta\t" + hash_of("k3") + "\n");
    REQUIRE(loaded.faults.empty());
    return loaded.table;
}

std::optional<std::string_view> who(std::initializer_list<std::pair<std::string_view, std::string_view>> headers,
                                    std::string_view query = {}) {
    static const client_table t = table();
    fields f;
    for (const auto& [name, value] : headers) f.add(name, value);
    return t.authenticate(f, query);
}

}  // namespace

TEST_CASE("a key is known by its SHA-256") {
    const client_table t = table();
    CHECK(t.size() == 2);
    CHECK(t.find("k1") == "alpha");
    CHECK(t.find("k2") == "alpha");
    CHECK(t.find("k3") == "beta");
    CHECK_FALSE(t.find("k4"));
    CHECK_FALSE(t.find(""));
    CHECK_FALSE(t.find(hash_of("k1")));
    CHECK_FALSE(client_table().find("k1"));
}

TEST_CASE("a caller presents a key wherever credentials stand") {
    CHECK(who({{"Authorization", "Bearer k1"}}) == "alpha");
    CHECK(who({{"authorization", "bearer  k1"}}) == "alpha");
    CHECK(who({{"x-api-key", "k2"}}) == "alpha");
    CHECK(who({{"api-key", "k3"}}) == "beta");
    CHECK(who({{"x-goog-api-key", "k3"}}) == "beta");
    CHECK(who({}, "alt=sse&key=k3") == "beta");
    CHECK_FALSE(who({{"Authorization", "Bearer k9"}}));
    CHECK_FALSE(who({{"x-other", "k1"}}));
    CHECK_FALSE(who({}));
}

TEST_CASE("an unknown second credential is the upstream's affair, a second client's is not") {
    CHECK(who({{"x-api-key", "k1"}, {"authorization", "Bearer for-upstream"}}) == "alpha");
    CHECK(who({{"x-api-key", "k1"}, {"authorization", "Bearer k2"}}) == "alpha");
    CHECK_FALSE(who({{"x-api-key", "k1"}, {"authorization", "Bearer k3"}}));
}

TEST_CASE("every fault of the file is told with its line") {
    const auto loaded = client_table::load("alpha\nbeta 1234\nalpha " + hash_of("a") + "\ngamma " + hash_of("a") +
                                           "\n" + std::string(129, 'x') + " " + hash_of("b"));
    REQUIRE(loaded.faults.size() == 5);
    CHECK(loaded.faults[0].line == 1);
    CHECK(loaded.faults[0].message == "client alpha has no key");
    CHECK(loaded.faults[1].line == 2);
    CHECK(loaded.faults[1].message == "a key is given by its SHA-256: 64 hexadecimal digits");
    CHECK(loaded.faults[2].line == 3);
    CHECK(loaded.faults[2].message == "client alpha is named twice");
    CHECK(loaded.faults[3].line == 4);
    CHECK(loaded.faults[3].message == "clients alpha and gamma have the same key");
    CHECK(loaded.faults[4].line == 5);
    CHECK(loaded.faults[4].message == "a client's name has 1 to 128 visible ASCII characters");
}

TEST_CASE("capital hexadecimal digits are digits") {
    std::string hash = hash_of("k");
    for (char& c : hash) c = static_cast<char>(std::toupper(c));
    CHECK(client_table::load("a " + hash).table.find("k") == "a");
}
