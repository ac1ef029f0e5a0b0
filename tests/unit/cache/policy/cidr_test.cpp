#include "cache/policy/cidr.hpp"

#include <doctest/doctest.h>

#include <string>

using idem::cache::cidr;
using idem::cache::ip_address;

namespace {

bool in(const char* block, const char* address) {
    return cidr::parse(block)->contains(*ip_address::parse(address));
}

}  // namespace

TEST_CASE("IPv4 blocks") {
    CHECK(in("10.0.0.0/8", "10.255.0.1"));
    CHECK_FALSE(in("10.0.0.0/8", "11.0.0.1"));
    CHECK(in("192.168.4.128/25", "192.168.4.200"));
    CHECK_FALSE(in("192.168.4.128/25", "192.168.4.100"));
    CHECK(in("10.1.2.3/8", "10.9.9.9"));  // bits beyond the prefix do not count
    CHECK(in("127.0.0.1", "127.0.0.1"));
    CHECK_FALSE(in("127.0.0.1", "127.0.0.2"));
    CHECK(in("0.0.0.0/0", "203.0.113.7"));
}

TEST_CASE("IPv6 blocks") {
    CHECK(in("fd00::/8", "fd12:3456::1"));
    CHECK_FALSE(in("fd00::/8", "fe80::1"));
    CHECK(in("2001:db8::/33", "2001:db8:7fff::1"));
    CHECK_FALSE(in("2001:db8::/33", "2001:db8:8000::1"));
    CHECK(in("::1", "::1"));
    CHECK(in("::/0", "2001:db8::1"));
}

TEST_CASE("families do not mix, but a mapped address is the IPv4 address") {
    CHECK(in("10.0.0.0/8", "::ffff:10.1.1.1"));
    CHECK(in("::ffff:10.0.0.0/104", "10.1.1.1"));
    CHECK_FALSE(in("::/0", "10.1.1.1"));
    CHECK_FALSE(in("0.0.0.0/0", "::1"));
    CHECK(ip_address::from_v4({10, 1, 1, 1}) == *ip_address::parse("10.1.1.1"));
    CHECK(ip_address::from_v6(ip_address::parse("fd00::1")->bytes) == *ip_address::parse("fd00::1"));
}

TEST_CASE("what is no block") {
    for (const char* bad : {"", "10.0.0.0/33", "10.0.0/8", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x", "fd00::/129",
                            "fe80::1%eth0", "localhost", "10.0.0.0/ 8", "/8", "10.0.0.256", "::ffff:10.0.0.0/8/8"}) {
        CHECK_MESSAGE(!cidr::parse(bad), std::string(bad));
    }
    CHECK_FALSE(ip_address::parse(std::string_view("10.0.0.1\0", 9)));
    CHECK_FALSE(ip_address::parse(std::string(200, '1')));
}
