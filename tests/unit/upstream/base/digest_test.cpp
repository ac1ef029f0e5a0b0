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

TEST_CASE("hmac_sha256 equals RFC 4231 cases 1, 6 and 7") {
    CHECK(to_hex(hmac_sha256(std::string(20, '\x0b'), "Hi There").bytes) ==
          "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    const std::string long_key(131, '\xaa');
    CHECK(to_hex(hmac_sha256(long_key, "Test Using Larger Than Block-Size Key - Hash Key First").bytes) ==
          "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    CHECK(to_hex(hmac_sha256(long_key,
                             "This is a test using a larger than block-size key and a larger than block-size data. The "
                             "key needs to be hashed before being used by the HMAC algorithm.")
                     .bytes) == "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST_CASE("pieces of every size hash like the whole") {
    std::string whole;
    for (int i = 0; i < 3000; ++i) whole += static_cast<char>(i * 31);
    hasher h;
    for (const std::size_t piece : {1u, 7u, 63u, 64u, 511u, 512u, 513u, 1000u, 2999u}) {
        for (std::size_t at = 0; at < whole.size(); at += piece) h.update(std::string_view(whole).substr(at, piece));
        CHECK(h.finish() == sha256(whole));
    }
    CHECK(to_hex(sha256(std::string(1'000'000, 'a')).bytes) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");  // FIPS 180-2 appendix B.3
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

TEST_CASE("with_part: what finish() would give behind one more part, as often as asked, and nothing changes") {
    for (const std::size_t size : {0UL, 1UL, 400UL, 511UL, 512UL, 513UL, 5000UL}) {
        hasher branching;
        const std::string common(size, 'c');
        branching.part('a', common);
        for (const std::string& last : {std::string(), std::string("x"), std::string(2000, 'y')}) {
            hasher straight;
            straight.part('a', common);
            straight.part('I', last);
            CHECK(branching.with_part('I', last) == straight.finish());
        }
        hasher alone;
        alone.part('a', common);
        CHECK(branching.finish() == alone.finish());
    }
}
