#include <doctest/doctest.h>

#include "upstream/determinism/shadow_blame.hpp"
#include "upstream/determinism/shadow_book.hpp"
#include "upstream/determinism/shadow_budget.hpp"
#include "upstream/determinism/shadow_target.hpp"

namespace d = idem::upstream::determinism;
using d::blame;
using d::shadow_result;
using idem::sha256;

namespace {
const idem::digest a = sha256("a"), b = sha256("b"), c = sha256("c");

d::shadow_divergence divergence(std::string replica, std::int64_t at = 1) {
    d::shadow_divergence out;
    out.at = at;
    out.blamed = std::move(replica);
    return out;
}
}  // namespace

TEST_CASE("a budget gives a minute no more than it may have, and a tenth of that at once") {
    d::shadow_budget budget;
    unsigned at_once = 0, in_a_minute = 0;
    for (int i = 0; i < 100; ++i) at_once += budget.take(5'000'000, 30);
    CHECK(at_once == 3);
    for (std::int64_t ms = 1; ms <= 60'000; ms += 10) in_a_minute += budget.take(5'000'000 + ms, 30);
    CHECK(in_a_minute >= 29);
    CHECK(in_a_minute <= 31);
    CHECK_FALSE(budget.take(9'000'000, 0));
}

TEST_CASE("a budget of one a minute gives one") {
    d::shadow_budget budget;
    CHECK(budget.take(1'000'000, 1));
    CHECK_FALSE(budget.take(1'059'000, 1));
    CHECK(budget.take(1'060'001, 1));
}

TEST_CASE("the dice hit as often as they are asked to") {
    d::shadow_dice dice(7);
    unsigned never = 0, always = 0, some = 0;
    for (int i = 0; i < 100'000; ++i) {
        never += dice.hit(0);
        always += dice.hit(1'000'000);
        some += dice.hit(20'000);
    }
    CHECK(never == 0);
    CHECK(always == 100'000);
    CHECK(some > 1'700);
    CHECK(some < 2'300);
}

TEST_CASE("two of three say who is to blame") {
    struct row {
        bool same;
        std::optional<idem::digest> twice, other;
        blame what;
        bool at_origin;
    };
    const row rows[] = {
        {true, std::nullopt, std::nullopt, blame::undecided, true},
        {true, std::nullopt, a, blame::undecided, true},
        {true, a, std::nullopt, blame::flip, true},       // the stored output again: the run between was a flip
        {true, c, b, blame::flip, true},                  // a third output
        {true, b, std::nullopt, blame::replica, true},    // steady, and another than it was
        {true, b, a, blame::replica, true},               // a sibling still says what is stored
        {true, b, c, blame::replica, true},               // and one that says neither helps nobody
        {true, b, b, blame::environment, true},           // all say the same now
        {false, a, a, blame::flip, false},                // the sibling came round
        {false, c, a, blame::flip, false},                //
        {false, b, a, blame::replica, false},             // each repeats itself: the sibling is not the same
        {false, b, std::nullopt, blame::replica, false},  //
        {false, b, b, blame::flip, true},                 // nobody gives the stored output any more
        {false, b, c, blame::flip, true},                 //
        {false, std::nullopt, b, blame::undecided, false},
    };
    for (const row& r : rows) {
        const auto found = d::find_blame({a, b, r.same, r.twice, r.other});
        CAPTURE(&r - rows);
        CHECK(found.what == r.what);
        CHECK(found.at_origin == r.at_origin);
    }
    for (std::size_t i = 0; i < d::blames; ++i) {
        const auto each = static_cast<blame>(i);
        CHECK(d::blame_from(to_string(each)) == each);
    }
    CHECK_FALSE(d::blame_from("nobody"));
}

TEST_CASE("only what was promised counts in a replica's score") {
    d::shadow_book book;
    CHECK_FALSE(book.score_of("r1").share());
    for (int i = 0; i < 9; ++i) book.count(shadow_result::verified, "r1");
    book.count(shadow_result::divergence, "r1");
    for (const auto other : {shadow_result::drift, shadow_result::variation, shadow_result::failed})
        book.count(other, "r1");
    book.count(shadow_result::skipped, "");
    CHECK(book.score_of("r1").share() == 0.9);
    CHECK(book.total(shadow_result::verified) == 9);
    CHECK(book.total(shadow_result::skipped) == 1);
    CHECK(book.scores.size() == 1);
}

TEST_CASE("divergences count against whom they are blamed on until that was settled") {
    d::shadow_book written, since;
    written.add(divergence("r1"));
    written.add(divergence(""));
    written.add(divergence("r1"));
    since.add(divergence("r1"));
    d::shadow_book now = since;
    now.merge(written);
    CHECK(now.score_of("r1").counted == 3);
    CHECK(now.scores.size() == 1);
    since.settle("r1", 3);
    since.merge(written);
    CHECK(since.score_of("r1").counted == 0);
    CHECK(since.seen == 4);
}

TEST_CASE("of divergences the last are kept, in order, whoever counted them") {
    d::shadow_book one, two;
    for (std::int64_t i = 0; i < 80; ++i) {
        one.add(divergence("r1", 2 * i));
        two.add(divergence("r2", 2 * i + 1));
        one.count(shadow_result::divergence, "r1");
        two.count(shadow_result::divergence, "r1");
    }
    one.merge(two);
    REQUIRE(one.divergences.size() == d::shadow_book::kept);
    CHECK(one.divergences.front().at == 60);
    CHECK(one.divergences.back().at == 159);
    CHECK(one.seen == 160);
    CHECK(one.score_of("r1").diverged == 160);
    CHECK(one.score_of("r2").counted == 80);
    CHECK(one.total(shadow_result::divergence) == 160);
}

TEST_CASE("who answers again: in turn, in the answer's environment, and only whom the policy would ask") {
    using d::replica_state;
    using d::standing;
    const auto is = [](replica_state s, const idem::digest& e) {
        standing out;
        out.state = s;
        out.environment = e;
        return out;
    };
    std::vector<standing> all{is(replica_state::admitted, a), is(replica_state::admitted, a),
                              is(replica_state::admitted, b), is(replica_state::quarantined, a)};
    d::shadow_wish w;
    w.origin = 0;
    w.environment = w.epoch = a;
    w.wants = d::demand::admitted;
    for (std::size_t turn = 0; turn < 8; ++turn) {
        w.turn = turn;
        CHECK(d::shadow_target(w, all, {}) == turn % 2);
        CHECK(d::shadow_sibling(w, all, {}, 1) == 0);
    }
    w.turn = 1;
    w.sibling = false;
    CHECK(d::shadow_target(w, all, {}) == 0);
    w = {0, a, d::demand::admitted, a, false, true, 0};
    CHECK(d::shadow_target(w, all, {}) == 1);
    const idem::upstream::route::replica_class busy[] = {0, idem::upstream::route::unwanted, 0, 0};
    CHECK_FALSE(d::shadow_target(w, all, busy));
    w.same = true;
    CHECK(d::shadow_target(w, all, busy) == 0);
    all[0].silent = true;
    CHECK_FALSE(d::shadow_target(w, all, busy));
    CHECK(d::shadow_target(w, all, {}) == 1);
    all[1].state = replica_state::probing;
    CHECK_FALSE(d::shadow_target(w, all, {}));
    w.wants = d::demand::any;
    CHECK(d::shadow_target(w, all, {}) == 1);
    w.origin.reset();  // a replica that is gone
    CHECK(d::shadow_target(w, all, {}) == 1);
    CHECK_FALSE(d::shadow_target(w, {}, {}));
}
