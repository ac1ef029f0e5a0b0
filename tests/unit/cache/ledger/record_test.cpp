#include "cache/ledger/record.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tests/support/sample_fill.hpp"

using namespace idem;
using namespace idem::cache;
using namespace idem::test;
using upstream::determinism::contrast;
using upstream::determinism::level;

TEST_CASE("a fill is compared with the latest of its environment, else with the latest of all") {
    const std::vector<ledger_record> known = {fill_of("q", "1", "a", 10), fill_of("q", "2", "a", 20),
                                              fill_of("q", "3", "b", 30, "other machine")};
    CHECK(counterpart(known, fill_of("q", "2", "a", 40)) == &known[1]);
    CHECK(counterpart(known, fill_of("q", "2", "c", 40, "third machine")) == &known[2]);
    CHECK(counterpart(known, fill_of("another", "2", "a", 40)) == nullptr);
    ledger_record elsewhere = fill_of("q", "2", "a", 40);
    elsewhere.upstream = "other";
    CHECK(counterpart(known, elsewhere) == nullptr);
    CHECK(counterpart({}, elsewhere) == nullptr);
}

TEST_CASE("a guarantee is held against a guarantee, whatever came between") {
    const std::vector<ledger_record> known = {fill_of("q", "1", "a", 10),
                                              fill_of("q", "2", "a", 20, "machine", level::none)};
    CHECK(contrast_with(known, fill_of("q", "2", "a", 30)) == contrast::divergence);
    CHECK(contrast_with(known, fill_of("q", "1", "a", 30)) == contrast::same);
    CHECK(contrast_with(known, fill_of("q", "1", "a", 30, "machine", level::none)) == contrast::variation);
    CHECK(contrast_with(known, fill_of("q", "3", "b", 30, "other machine")) == contrast::drift);
    CHECK(contrast_with({}, fill_of("q", "2", "a", 30)) == contrast::same);
}

TEST_CASE("a line is read as it was written, whatever the upstream is called") {
    ledger_record r = fill_of("q", "1", "a", 1'700'000'000'000);
    r.last = r.first + 5;
    r.fills = 7;
    r.upstream = "my upstream\n%20 ä";
    const std::string line = encode_ledger_line(r);
    CHECK(line.find('\n') == std::string::npos);
    CHECK(line.starts_with(ledger_kind(r)));
    const auto back = decode_ledger_line(r.request, line);
    REQUIRE(back);
    CHECK(*back == r);
    r.upstream = "qwen";
    r.promise = {};
    r.sampled = true;
    CHECK(*decode_ledger_line(r.request, encode_ledger_line(r)) == r);
}

TEST_CASE("the line of a record") {
    CHECK(encode_ledger_line(fill_of("q", "1", "a", 1000)) ==
          "ca978112ca1bbdcafac231b39a23dc4d 6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b "
          "bc020a35b7f9cb1382e7b534c68e3c531d849b119bf14f75ddead6cc45c3ccc1 replica serial r qwen 1000 1000 1 9");
}

TEST_CASE("a line that was changed anywhere is another record or none") {
    const ledger_record r = fill_of("q", "1", "a", 1000);
    const std::string line = encode_ledger_line(r);
    for (std::size_t i = 0; i < line.size(); ++i)
        for (const char c : {'0', ' ', 'x', '\xff', '\0', '-'}) {
            std::string changed = line;
            if (changed[i] == c) continue;
            changed[i] = c;
            const auto back = decode_ledger_line(r.request, changed);
            CHECK((!back || *back != r));
        }
    for (std::size_t n = 0; n < line.size(); ++n) {
        const auto back = decode_ledger_line(r.request, line.substr(0, n));
        CHECK((!back || *back != r));
    }
}

TEST_CASE("hostile lines") {
    CHECK(rc::check("never more than nothing", [](const std::string& text) {
        const auto back = decode_ledger_line({}, text);
        if (back) RC_ASSERT(encode_ledger_line(*back) == text);
    }));
}
