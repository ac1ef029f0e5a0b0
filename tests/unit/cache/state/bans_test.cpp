#include "cache/state/bans.hpp"

#include <doctest/doctest.h>

using namespace idem;
using namespace idem::cache;

namespace {

entry some(std::uint64_t lineage, std::uint64_t sequence) {
    entry e;
    e.key.value = sha256("k");
    e.tags = {"red", "blue"};
    e.model = "m";
    e.route = "r";
    e.upstream = "u";
    e.scope_tag = "0123456789abcdef";
    e.created = 1000;
    e.ban = ban_mark(lineage, sequence);
    return e;
}

bool hit(const state_record& r, const entry& e) {
    return ban_table(r).hits(subject_of(e));
}

}  // namespace

TEST_CASE("a mark is lineage and sequence") {
    const id128 m = ban_mark(0x0102030405060708, 0x1112131415161718);
    CHECK(to_hex(m.bytes) == "01020304050607081112131415161718");
    CHECK(sequence_of(m) == 0x1112131415161718);
}

TEST_CASE("each kind fits what it names, and nothing that was begun after it") {
    const std::pair<ban_kind, std::pair<std::string, std::string>> cases[] = {
        {ban_kind::key, {to_hex(sha256("k").bytes), to_hex(sha256("other").bytes)}},
        {ban_kind::tag, {"blue", "green"}},
        {ban_kind::model, {"m", "M"}},
        {ban_kind::route, {"r", "r2"}},
        {ban_kind::upstream, {"u", ""}},
        {ban_kind::scope, {"0123456789abcdef", "0123456789abcde"}},
        {ban_kind::before, {"1001", "1000"}},
    };
    for (const auto& [kind, values] : cases) {
        CAPTURE(to_string(kind));
        state_record r = begin_state(1, 1, std::nullopt);
        add_ban(r, kind, values.second, false, 0);
        commit(r, 2);
        CHECK_FALSE(hit(r, some(1, 1)));
        add_ban(r, kind, values.first, false, 0);
        commit(r, 3);
        CHECK(hit(r, some(1, 1)));
        CHECK(hit(r, some(1, 2)));
        CHECK_FALSE(hit(r, some(1, 3)));
        CHECK(ban_table(r).latest() == 3);
        CHECK(ban_table(r).mark() == ban_mark(1, 3));
        CHECK(hit(r, some(2, 3)));  // of another lineage
    }
    state_record r = begin_state(1, 1, std::nullopt);
    CHECK_FALSE(hit(r, some(1, 1)));
    add_ban(r, ban_kind::all, "", true, 0);
    commit(r, 2);
    CHECK(hit(r, some(1, 1)));
    CHECK_FALSE(hit(r, some(1, 2)));
    CHECK(ban_table(r).last_erasure() == 2);
}

TEST_CASE("a change of an epoch is no news") {
    state_record r = begin_state(1, 1, std::nullopt);
    add_ban(r, ban_kind::tag, "x", false, 0);
    commit(r, 2);
    commit(r, 3);
    CHECK(ban_table(r).latest() == 2);
    bans all;
    CHECK(all.latest() == 0);
    CHECK_FALSE(all.table()->hits(subject_of(some(0, 0))));
    all.set(r);
    CHECK(all.latest() == 2);
    CHECK(all.table()->hits(subject_of(some(0, 0))));
}
