#include "gateway/shadow/account.hpp"

#include <doctest/doctest.h>

#include "gateway/shadow/record.hpp"

using namespace idem::upstream::determinism;
using idem::gateway::shadow::account;
using idem::gateway::shadow::decode;

namespace {

constexpr auto verified = shadow_result::verified;

shadow_divergence divergence(std::int64_t at) {
    shadow_divergence d;
    d.at = at;
    d.blamed = "a";
    return d;
}

}  // namespace

TEST_CASE("what is counted adds up at every step of a writing") {
    account a;
    a.count(verified, "a");
    CHECK(a.changed());
    a.read({});
    const std::string first = a.begin();
    CHECK_FALSE(a.changed());
    CHECK(a.total(verified) == 1);  // on its way
    a.count(verified, "a");
    CHECK(a.total(verified) == 2);
    a.end(account::outcome::written);
    CHECK(a.total(verified) == 2);
    CHECK(a.changed());
    CHECK(decode(first)->total(verified) == 1);
    a.read(first);
    const std::string second = a.begin();
    a.end(account::outcome::written);
    CHECK(decode(second)->total(verified) == 2);
    CHECK(decode(second)->score_of("a").same == 2);
    CHECK(a.all() == decode(second));
    CHECK_FALSE(a.changed());
}

TEST_CASE("who is overtaken counts on top of the other's record") {
    account one, two;
    one.count(verified, "a");
    two.count(verified, "a");
    one.read({});
    two.read({});
    const std::string first = one.begin();
    one.end(account::outcome::written);
    (void)two.begin();
    two.end(account::outcome::overtaken);
    CHECK(two.changed());
    CHECK(two.total(verified) == 1);
    two.read(first);
    CHECK(two.total(verified) == 2);
    CHECK(decode(two.begin())->total(verified) == 2);
}

TEST_CASE("a writing that ended nobody knows how counts once") {
    for (const bool arrived : {false, true}) {
        CAPTURE(arrived);
        account a;
        a.read({});
        a.count(verified, "a");
        a.add(divergence(1));
        const std::string sent = a.begin();
        a.end(account::outcome::unknown);
        CHECK(a.changed());
        CHECK(a.total(verified) == 1);
        a.count(verified, "a");
        a.read(arrived ? std::string_view(sent) : std::string_view());
        CHECK(a.total(verified) == 2);
        CHECK(a.all().divergences.size() == 1);
        CHECK(a.score_of("a").counted == 1);
        const std::string next = a.begin();
        CHECK(decode(next)->total(verified) == 2);
        CHECK(decode(next)->seen == 1);
    }
}

TEST_CASE("a replica that was put out begins to count anew") {
    account a;
    for (int i = 0; i < 3; ++i) a.add(divergence(i));
    CHECK(a.score_of("a").counted == 3);
    a.read({});
    (void)a.begin();
    a.settle("a", 3);
    CHECK(a.score_of("a").counted == 0);
    a.end(account::outcome::written);
    CHECK(a.score_of("a").counted == 0);
    CHECK(a.all().seen == 3);
}
