#include "gateway/config/text.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace config = idem::gateway::config;
using config::milliseconds;

TEST_CASE("sizes") {
    CHECK(config::parse_size("0") == 0);
    CHECK(config::parse_size("4096") == 4096);
    CHECK(config::parse_size("64MiB") == 64ull << 20);
    CHECK(config::parse_size("64mib") == 64ull << 20);
    CHECK(config::parse_size("10 MB") == 10'000'000);
    CHECK(config::parse_size("1TiB") == 1ull << 40);
    for (const auto bad : {"", "MiB", "-1", "1.5GiB", "64M", "64 MiB x", "99999999999TiB", "99999999999999999999"}) {
        CAPTURE(bad);
        CHECK_FALSE(config::parse_size(bad));
    }
    CHECK(config::parse_share("40%", 1000) == 400);
    CHECK(config::parse_share("100%", ~0ull) == ~0ull);
    CHECK_FALSE(config::parse_share("0%", 1000));
    CHECK_FALSE(config::parse_share("101%", 1000));
    CHECK_FALSE(config::parse_share("40", 1000));
}

TEST_CASE("durations") {
    CHECK(config::parse_duration("0") == milliseconds(0));
    CHECK(config::parse_duration("50ms") == milliseconds(50));
    CHECK(config::parse_duration("10s") == milliseconds(10'000));
    CHECK(config::parse_duration("15m") == milliseconds(900'000));
    CHECK(config::parse_duration("1h30m") == milliseconds(5'400'000));
    CHECK(config::parse_duration("30d") == milliseconds(2'592'000'000));
    for (const auto bad : {"", "10", "s", "10x", "-1s", "1.5s", "10s ", "99999999999999999d"}) {
        CAPTURE(bad);
        CHECK_FALSE(config::parse_duration(bad));
    }
    CHECK(config::format_duration(milliseconds(120'000)) == "120s");
    CHECK(config::format_duration(milliseconds(900'000)) == "15m");
    CHECK(config::format_duration(milliseconds(86'400'000)) == "1d");
}

TEST_CASE("ratios") {
    CHECK(config::parse_ratio("0") == 0);
    CHECK(config::parse_ratio("1") == 1'000'000);
    CHECK(config::parse_ratio("0.02") == 20'000);
    CHECK(config::parse_ratio("0.000001") == 1);
    CHECK(config::parse_ratio("1.0") == 1'000'000);
    for (const auto bad : {"", ".", ".5", "1.", "1.1", "1.000001", "2", "-0.5", "0.0000001", "1e-2", "2%", "0.5x"}) {
        CAPTURE(bad);
        CHECK_FALSE(config::parse_ratio(bad));
    }
}

TEST_CASE("what is written reads back") {
    rc::check(
        [](std::uint32_t n) { RC_ASSERT(config::parse_ratio(config::format_ratio(n % 1'000'001)) == n % 1'000'001); });
    rc::check([](std::uint64_t n) { RC_ASSERT(config::parse_size(config::format_size(n)) == n); });
    rc::check([](std::uint32_t n) {
        RC_ASSERT(config::parse_duration(config::format_duration(milliseconds(n))) == milliseconds(n));
    });
}

TEST_CASE("addresses") {
    const auto v4 = config::parse_address("127.0.0.1:8080");
    REQUIRE(v4);
    CHECK(v4->host == "127.0.0.1");
    CHECK(v4->port == 8080);
    CHECK(v4->loopback());
    const auto v6 = config::parse_address("[::1]:8080");
    REQUIRE(v6);
    CHECK(v6->host == "::1");
    CHECK(v6->loopback());
    CHECK(config::format_address(*v6) == "[::1]:8080");
    const auto any = config::parse_address(":8080");
    REQUIRE(any);
    CHECK(any->host == "0.0.0.0");
    CHECK_FALSE(any->loopback());
    CHECK(config::parse_address("localhost:1")->host == "127.0.0.1");
    CHECK(config::parse_address("127.9.9.9:1")->loopback());
    CHECK(config::parse_address("[::ffff:127.0.0.1]:1")->loopback());
    for (const auto bad :
         {"", "8080", "127.0.0.1", "::1:8080", "[127.0.0.1]:1", "host.name:80", "1.2.3.4:65536", "1.2.3.4:"}) {
        CAPTURE(bad);
        CHECK_FALSE(config::parse_address(bad));
    }
    CHECK(config::valid_cidr("10.0.0.0/8"));
    CHECK(config::valid_cidr("fd00::/8"));
    CHECK(config::valid_cidr("::1"));
    CHECK_FALSE(config::valid_cidr("10.0.0.0/33"));
    CHECK_FALSE(config::valid_cidr("ten/8"));
}

TEST_CASE("user information of a URL is hidden") {
    CHECK(config::mask_url("redis://user:pw@host:1/0") == "redis://***@host:1/0");
    CHECK(config::mask_url("redis://host:1/a@b") == "redis://host:1/a@b");
    CHECK(config::mask_url("redis://p@ss@host") == "redis://***@host");
}

TEST_CASE("the nearest word") {
    CHECK(config::nearest("cach", {"cache", "listen"}) == "cache");
    CHECK(config::nearest("TTL", {"ttl"}) == "ttl");
    CHECK_FALSE(config::nearest("zebra", {"cache", "listen"}));
}

TEST_CASE("scalars that YAML would read otherwise are quoted") {
    CHECK(config::yaml_scalar("plain-word.1/x") == "plain-word.1/x");
    CHECK(config::yaml_scalar("") == "\"\"");
    CHECK(config::yaml_scalar("null") == "\"null\"");
    CHECK(config::yaml_scalar("a: b") == "\"a: b\"");
    CHECK(config::yaml_scalar("a\"b\n") == "\"a\\\"b\\x0A\"");
}
