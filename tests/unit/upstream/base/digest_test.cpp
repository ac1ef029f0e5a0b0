#include "upstream/base/digest.hpp"

#include <doctest/doctest.h>

using namespace idem;

TEST_CASE("sha256 equals the FIPS 180-4 example") {
    CHECK(to_hex(sha256("abc").bytes) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(to_hex(sha256("").bytes) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("hmac_sha256 equals RFC 4231 case 2") {
    CHECK(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?").bytes) ==
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("parts cannot run into each other") {
    hasher h;
    h.part('a', "xy");
    h.part('b', "");
    const digest one = h.finish();
    h.part('a', "x");
    h.part('b', "y");
    CHECK(one != h.finish());
}

TEST_CASE("hexadecimal is read back, and only in its one spelling") {
    const digest d = sha256("abc");
    CHECK(digest_from_hex(to_hex(d.bytes)) == d);
    CHECK_FALSE(digest_from_hex("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"));
    CHECK_FALSE(digest_from_hex("ba78"));
    CHECK_FALSE(id128_from_hex(to_hex(d.bytes)));
}
