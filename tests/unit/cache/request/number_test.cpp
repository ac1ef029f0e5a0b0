#include "cache/request/number.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

using namespace idem::cache::detail;

namespace {

std::string written(double value) {
    char out[number_room];
    return {out, write_double(value, out)};
}

// Canonical form of a literal; "refused" where it is not finite, "" where it is no number as a whole.
std::string canonical(std::string_view literal) {
    const number_token token = scan_number(literal);
    if (token.size == 0 || token.size != literal.size()) return {};
    char out[number_room];
    const std::size_t size = write_number(literal, token.integer, out);
    return size ? std::string(out, size) : "refused";
}

}  // namespace

TEST_CASE("doubles are written as in RFC 8785 appendix B, but for magnitudes beyond 2^53") {
    struct sample {
        std::uint64_t bits;
        const char* text;
    };
    const sample samples[] = {
        {0x0000000000000000, "0"},
        {0x8000000000000000, "0"},
        {0x0000000000000001, "5e-324"},
        {0x8000000000000001, "-5e-324"},
        {0x7fefffffffffffff, "1.7976931348623157e+308"},
        {0xffefffffffffffff, "-1.7976931348623157e+308"},
        {0x4340000000000000, "9007199254740992"},
        {0xc340000000000000, "-9007199254740992"},
        {0x4430000000000000, "2.9514790517935283e+20"},  // appendix B: 295147905179352830000
        {0x44b52d02c7e14af5, "9.999999999999997e+22"},
        {0x44b52d02c7e14af6, "1e+23"},
        {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
        {0x444b1ae4d6e2ef4e, "9.999999999999997e+20"},  // appendix B: 999999999999999700000
        {0x444b1ae4d6e2ef4f, "9.999999999999999e+20"},  // appendix B: 999999999999999900000
        {0x444b1ae4d6e2ef50, "1e+21"},
        {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
        {0x3eb0c6f7a0b5ed8d, "0.000001"},
        {0x41b3de4355555553, "333333333.3333332"},
        {0x41b3de4355555554, "333333333.33333325"},
        {0x41b3de4355555555, "333333333.3333333"},
        {0x41b3de4355555556, "333333333.3333334"},
        {0x41b3de4355555557, "333333333.33333343"},
        {0xbecbf647612f3696, "-0.0000033333333333333333"},
        {0x43143ff3c1cb0959, "1424953923781206.2"},
    };
    for (const sample& s : samples) CHECK(written(std::bit_cast<double>(s.bits)) == s.text);
}

TEST_CASE("equal values have equal text") {
    for (const char* zero : {"0", "-0", "0.0", "-0.0", "0e0", "0E+9", "0.00e-7", "1e-400", "-1e-400"}) {
        CHECK(canonical(zero) == "0");
    }
    for (const char* one : {"1", "1.0", "1e0", "10e-1", "0.1e1", "1.000000000000000005"}) CHECK(canonical(one) == "1");
    CHECK(canonical("4.50") == "4.5");
    CHECK(canonical("2e-3") == "0.002");
    CHECK(canonical("-1E2") == "-100");
    CHECK(canonical("9007199254740993.0") == "9007199254740992");
}

TEST_CASE("an integer literal keeps its digits and never looks like a double beyond 2^53") {
    CHECK(canonical("9007199254740993") == "9007199254740993");
    CHECK(canonical("-9007199254740993") == "-9007199254740993");
    CHECK(canonical("100000000000000000000") == "100000000000000000000");
    CHECK(canonical("1e20") == "1e+20");
    CHECK(canonical("100000000000000000000.0") == "1e+20");
    CHECK(canonical("1e16") == "1e+16");
    CHECK(canonical("12345678901234567.5") == "1.2345678901234568e+16");
}

TEST_CASE("numbers that are not finite as a double are refused") {
    for (const char* large : {"1e309", "-1e309", "1e99999999999999999999", "0.1e310", "17976931348623159e292"}) {
        CHECK(canonical(large) == "refused");
    }
    CHECK(canonical("1" + std::string(308, '0')) == "1" + std::string(308, '0'));
    CHECK(canonical("2" + std::string(308, '0')) == "refused");
    CHECK(canonical(std::string(310, '1')) == "refused");
    CHECK(canonical("0." + std::string(400, '0') + "1e-99999999999999999999") == "0");
    CHECK(canonical("0." + std::string(400, '0') + "1e+401") == "1");
}

TEST_CASE("what is no JSON number is not taken for one") {
    for (const char* bad :
         {"", "-", "+1", ".5", "5.", "1e", "1e+", "01", "-01", "0x10", "NaN", "Infinity", "1_000", "--1"}) {
        CHECK_MESSAGE(canonical(bad).empty(), std::string(bad));
    }
}

TEST_CASE("the text reads back as the same double, and is its own canonical form") {
    CHECK(rc::check([](std::uint64_t bits) {
        const double value = std::bit_cast<double>(bits);
        RC_PRE(std::isfinite(value));
        const std::string text = written(value);
        double back = 1;
        std::from_chars(text.data(), text.data() + text.size(), back);
        RC_ASSERT(back == value);
        RC_ASSERT(canonical(text) == text);
    }));
}
