#include "upstream/determinism/election.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace idem;
using namespace idem::upstream::determinism;
namespace net = idem::upstream::net;
using namespace std::chrono_literals;

namespace {

const digest a = sha256("a"), b = sha256("b"), nothing = sha256("nothing");

ballot says(const digest& environment, std::size_t told = 3) {
    return {environment, told};
}

}  // namespace

TEST_CASE("more than half of those that were read make a majority") {
    const std::vector<ballot> none{{}, {}}, one{says(a), {}}, split{says(a), says(b)},
        most{says(b), says(a), says(b), {}};
    CHECK_FALSE(majority_environment(none));
    CHECK_FALSE(first_environment(none));
    CHECK(majority_environment(one) == a);
    CHECK_FALSE(majority_environment(split));
    CHECK(first_environment(split) == a);
    CHECK(majority_environment(most) == b);
    CHECK(first_environment(most) == b);
}

TEST_CASE("a replica that tells nothing has no say beside one that tells something") {
    CHECK(majority_environment(std::vector{says(nothing, 0), says(a)}) == a);
    CHECK(majority_environment(std::vector{says(nothing, 0), says(nothing, 0), says(a, 1)}) == a);
    CHECK(majority_environment(std::vector{says(nothing, 0), says(nothing, 0)}) == nothing);
    CHECK(first_environment(std::vector{says(nothing, 0), says(a, 1), says(b, 4)}) == b);
    // Not read yet is not silence.
    CHECK(majority_environment(std::vector<ballot>{{std::nullopt, 5}, says(nothing, 0)}) == nothing);
}

TEST_CASE("facts that nobody but the operator vouches for are not told by the replica") {
    environment e;
    CHECK(facts_told(e) == 0);
    e.add({"gpu", "H100", provenance::declared});
    e.add({"weights", "", provenance::unknown});
    CHECK(facts_told(e) == 0);
    e.add({"version", "1", provenance::reported});
    e.add({"speed", "2", provenance::measured});
    CHECK(facts_told(e) == 2);
}

TEST_CASE("an environment that goes to and fro opens fewer and fewer epochs") {
    epoch_pace pace;
    net::time_point now{1h};
    const net::time_point begin = now;
    std::vector<net::duration> at;
    for (; now < begin + 60min; now += 100ms) {
        if (!pace.may_open(now)) continue;
        at.push_back(now - begin);
        pace.opened(now);
        CHECK(pace.next() > now);
    }
    REQUIRE(at.size() > 6);
    CHECK(at.size() < 14);
    CHECK(at[0] == 0s);  // the first change is followed at once
    CHECK(at[1] == 10s);
    CHECK(at[2] == 30s);
    CHECK(at.back() - at[at.size() - 2] == 10min);
}

TEST_CASE("after a long calm a change is followed as if it was the first") {
    epoch_pace pace;
    net::time_point now{1h};
    for (int i = 0; i < 4; ++i) {
        pace.opened(now);
        now = pace.next();
    }
    now += 2h;
    CHECK(pace.may_open(now));
    pace.opened(now);
    CHECK(pace.next() == now + epoch_pace::shortest);
}
