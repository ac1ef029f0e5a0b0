#include "cache/state/state_record.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace idem;
using namespace idem::cache;

namespace {

id128 id_of(std::uint8_t n) {
    id128 id;
    id.bytes.fill(n);
    return id;
}

const digest here = sha256("here"), there = sha256("there");

state_record some() {
    state_record r = begin_state(0xabc, 1, proof_of_secret("s"));
    add_upstream(r, "qwen 3%\n", {id_of(1), here}, 10, "first");
    open_epoch(r, "qwen 3%\n", {id_of(2), there}, 20, "");
    commit(r, 2);
    add_ban(r, ban_kind::tag, "a b\xc3\xa4", false, 30);
    commit(r, 3);
    add_ban(r, ban_kind::key, std::string(64, 'a'), true, 40);
    commit(r, 4);
    return r;
}

}  // namespace

TEST_CASE("the state record is text of one form") {
    const state_record r = some();
    const std::string text = encode(r);
    CHECK(text ==
          "idem-state 1 0000000000000abc 4\n"
          "secret " +
              to_hex(r.secret->bytes) +
              "\n"
              "recent 0000000000000001 0000000000000002 0000000000000003 0000000000000004\n"
              "upstream qwen%203%25%0a 02020202020202020202020202020202 opened\n"
              "epoch 01010101010101010101010101010101 " +
              to_hex(here.bytes) +
              " 10 first\n"
              "epoch 02020202020202020202020202020202 " +
              to_hex(there.bytes) +
              " 20 %\n"
              "ban purge tag 3 30 a%20b%c3%a4\n"
              "ban erase key 4 40 " +
              std::string(64, 'a') + "\n");
    CHECK(decode_state(text) == r);
    for (std::size_t i = 0; i < text.size(); ++i) CHECK_FALSE(decode_state(text.substr(0, i)) == r);
    CHECK_FALSE(decode_state("idem-state 2 0000000000000abc 4\nrecent 0000000000000001\n"));
    CHECK_FALSE(decode_state(text + "future 1\n"));
    CHECK_FALSE(decode_state(""));
}

TEST_CASE("no text breaks the reader") {
    CHECK(rc::check("bytes changed at will", [] {
        std::string text = encode(some());
        const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
        text[at] = *rc::gen::arbitrary<char>();
        if (const auto r = decode_state(text)) RC_ASSERT(decode_state(encode(*r)) == r);
    }));
}

TEST_CASE("what was seen is found again, or was lost") {
    state_record r = begin_state(7, 70, std::nullopt);
    const state_mark first = r.mark();
    commit(r, 71);
    const state_record older = r;
    commit(r, 72);
    CHECK(compare(r, first) == continuity::follows);
    CHECK(compare(r, r.mark()) == continuity::follows);
    CHECK(compare(older, r.mark()) == continuity::lost);  // restored from a copy
    state_record other = older;
    commit(other, 99);  // restored, and gone on with by somebody else
    CHECK(compare(other, r.mark()) == continuity::lost);
    CHECK(compare(other, older.mark()) == continuity::follows);
    CHECK(compare(begin_state(8, 70, std::nullopt), r.mark()) == continuity::lost);
    for (std::uint64_t i = 0; i < 2 * most_recent; ++i) commit(r, 1000 + i);
    CHECK(r.recent.size() == most_recent);
    CHECK(compare(r, first) == continuity::follows);
    CHECK(decode_state(encode(r)) == r);
}

TEST_CASE("after a loss all upstreams have new epochs, and all gateways end in one lineage") {
    std::uint8_t next = 100;
    const auto make = [&] { return id_of(next++); };
    state_record known = some();
    add_upstream(known, "other", {id_of(9), here}, 5, "first");
    const state_record mine = begin_again(known, nullptr, 50, 1, 60, make);
    CHECK(compare(mine, known.mark()) == continuity::follows);
    CHECK(mine.bans.empty());
    REQUIRE(mine.upstreams.size() == 2);
    for (const upstream_epochs& u : mine.upstreams) {
        CHECK(u.epochs.size() == 1);
        CHECK_FALSE(known.find(u.name)->find(u.current));
        CHECK(u.find(u.current)->what.environment ==
              known.find(u.name)->find(known.find(u.name)->current)->what.environment);
    }
    // Another one, who knew nothing, was faster; a third knows what this one began.
    const state_record stranger = begin_state(51, 1, std::nullopt);
    CHECK(compare(stranger, known.mark()) == continuity::lost);
    const state_record both = begin_again(known, &stranger, 52, 1, 60, make);
    CHECK(compare(both, known.mark()) == continuity::follows);
    CHECK(compare(both, stranger.mark()) == continuity::follows);
    const state_record third = begin_again(mine, &both, 53, 1, 60, make);
    for (const state_record* each : std::initializer_list<const state_record*>{&known, &stranger, &both, &mine})
        CHECK(compare(third, each->mark()) == continuity::follows);
    state_record many = known;
    for (std::uint64_t i = 0; i < 100; ++i) many = begin_again(many, nullptr, 1000 + i, 1, 60, make);
    CHECK(many.ancestors.size() == most_ancestors);
    CHECK(decode_state(encode(many)) == many);
}

TEST_CASE("epochs are opened, gone back to and forgotten in the end") {
    state_record r = some();
    CHECK(r.find("qwen 3%\n")->current == id_of(2));
    add_upstream(r, "qwen 3%\n", {id_of(3), here}, 30, "again");
    CHECK(r.find("qwen 3%\n")->current == id_of(2));
    CHECK(activate_epoch(r, id_of(1)));
    CHECK(r.find("qwen 3%\n")->current == id_of(1));
    CHECK(r.find("qwen 3%\n")->by_hand);
    CHECK(decode_state(encode(r)) == r);
    CHECK_FALSE(activate_epoch(r, id_of(200)));
    open_epoch(r, "qwen 3%\n", {id_of(4), here}, 30, "on");
    CHECK_FALSE(r.find("qwen 3%\n")->by_hand);
    for (std::uint8_t i = 10; i < 60; ++i) open_epoch(r, "qwen 3%\n", {id_of(i), here}, 30, "");
    CHECK(r.find("qwen 3%\n")->epochs.size() == most_epochs);
    CHECK_FALSE(activate_epoch(r, id_of(1)));
    CHECK(activate_epoch(r, id_of(59)));
}

TEST_CASE("one ban of a kind and value, the newest; one on all stands for every other") {
    state_record r = some();
    add_ban(r, ban_kind::tag, "a b\xc3\xa4", false, 50);
    commit(r, 5);
    REQUIRE(r.bans.size() == 2);
    CHECK(r.bans.back() == ban{ban_kind::tag, "a b\xc3\xa4", 5, 50, false});
    add_ban(r, ban_kind::key, std::string(64, 'a'), false, 60);
    commit(r, 6);
    CHECK(r.bans.back().erase);  // what was to be erased still is
    const auto gone = drop_settled(r, 61);
    REQUIRE(gone.size() == 1);
    CHECK(gone[0].kind == ban_kind::key);
    CHECK(r.horizon == 6);
    CHECK(drop_settled(r, 1000).empty());
    CHECK(decode_state(encode(r)) == r);
    add_ban(r, ban_kind::all, "", false, 70);
    commit(r, 7);
    CHECK(r.bans == std::vector<ban>{{ban_kind::all, "", 7, 70, false}});
}

TEST_CASE("a secret is proven without being told") {
    CHECK_FALSE(proof_of_secret(""));
    CHECK(proof_of_secret("a") == proof_of_secret("a"));
    CHECK(proof_of_secret("a") != proof_of_secret("b"));
}
