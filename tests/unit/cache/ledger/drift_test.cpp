#include "cache/ledger/drift.hpp"

#include <doctest/doctest.h>

#include "tests/support/sample_fill.hpp"

using namespace idem;
using namespace idem::cache;
using namespace idem::test;
using upstream::determinism::level;

TEST_CASE("the share of prompts whose answer changed between two epochs") {
    drift_counter count(epoch_of("a"), epoch_of("b"));
    const std::vector<ledger_record> all = {
        fill_of("same", "1", "a", 1),
        fill_of("same", "1", "b", 2, "other"),
        fill_of("moved", "1", "a", 1),
        fill_of("moved", "2", "b", 2, "other"),
        fill_of("broken", "1", "a", 1),
        fill_of("broken", "2", "b", 2),
        fill_of("sampled", "1", "a", 1, "machine", level::none),
        fill_of("sampled", "2", "b", 2, "machine", level::none),
        fill_of("gone", "1", "a", 1),
        fill_of("new", "1", "b", 1),
        fill_of("elsewhere", "1", "c", 1),
    };
    count.take_all(all);
    CHECK(count.report() == drift_report{4, 3, 1, 1, 1, 1, 1});
}

TEST_CASE("an epoch's answer is its first") {
    drift_counter count(epoch_of("a"), epoch_of("b"));
    const std::vector<ledger_record> one = {fill_of("q", "9", "a", 5), fill_of("q", "1", "a", 1),
                                            fill_of("q", "1", "b", 7), fill_of("q", "2", "b", 8)};
    count.take(one);
    CHECK(count.report().both == 1);
    CHECK(count.report().changed == 0);
    count.take({});
    CHECK(count.report().both == 1);
}
