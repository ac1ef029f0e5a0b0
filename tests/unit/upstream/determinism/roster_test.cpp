#include "upstream/determinism/roster.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "upstream/route/pin.hpp"

using namespace idem;
using namespace idem::upstream::determinism;

namespace {

const digest here = sha256("here"), elsewhere = sha256("elsewhere");

standing in(replica_state s, const digest& environment = here) {
    return {s, environment};
}

condition being(replica_state s) {
    condition c;
    c.state = s;
    c.environment = here;
    return c;
}

std::vector<std::uint32_t> chosen(const std::vector<standing>& of, demand wants) {
    std::vector<upstream::route::replica_class> classes;
    classify(classes, of, wants, here);
    std::vector<std::uint32_t> order;
    for (unsigned group = 0; group < upstream::route::unwanted; ++group) {
        for (std::uint32_t i = 0; i < classes.size(); ++i) {
            if (classes[i] == group) order.push_back(i);
        }
    }
    return order;
}

using list = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("who wants an admitted replica gets none that is not, or is in another environment") {
    const std::vector<standing> all = {in(replica_state::probing),  in(replica_state::admitted, elsewhere),
                                       in(replica_state::admitted), in(replica_state::quarantined),
                                       in(replica_state::down),     in(replica_state::draining)};
    CHECK(chosen(all, demand::admitted) == list{2});
    CHECK(chosen({in(replica_state::probing)}, demand::admitted).empty());
}

TEST_CASE("who takes any gets the admitted ones first, and those that are down last") {
    CHECK(chosen({in(replica_state::down), in(replica_state::quarantined), in(replica_state::probing),
                  in(replica_state::draining), in(replica_state::admitted), in(replica_state::admitted, elsewhere)},
                 demand::any) == list{4, 5, 2, 1, 0});
    CHECK(chosen({in(replica_state::down), in(replica_state::draining), in(replica_state::down)}, demand::any) ==
          list{0, 2});
    CHECK(chosen({in(replica_state::draining)}, demand::any).empty());
}

TEST_CASE("a suspect is out until it has been looked at, and the keeper is told once") {
    roster r(2, true);
    std::vector<std::size_t> told;
    r.on_suspect([&](std::size_t i) { told.push_back(i); });
    r.suspect(1);
    CHECK(told.empty());  // it was not admitted
    r.set(1, being(replica_state::admitted));
    r.suspect(1);
    r.suspect(1);
    CHECK(told == std::vector<std::size_t>{1});
    CHECK(r.get(1).state == replica_state::probing);
    CHECK(r.get(1).why == cause::suspect);
    CHECK(r.transitions(1, replica_state::admitted) == 1);
    CHECK(r.transitions(1, replica_state::probing) == 1);
    CHECK((*r.standings())[1].state == replica_state::probing);
    CHECK((*r.standings())[1].environment == here);
}

TEST_CASE("a silent replica stays what it is and comes after the others") {
    std::vector<standing> of = {in(replica_state::admitted), in(replica_state::admitted)};
    of[0].silent = true;
    CHECK(chosen(of, demand::admitted) == list{1, 0});
    CHECK(chosen(of, demand::any) == list{1, 0});
    CHECK(lost(0, of, demand::admitted, here));
    CHECK_FALSE(lost(1, of, demand::admitted, here));
    // Alone it is waited for, until it is down.
    of[1].environment = elsewhere;
    CHECK_FALSE(lost(0, of, demand::admitted, here));
    CHECK(lost(0, of, demand::any, here));
    of[1].silent = true;
    CHECK_FALSE(lost(0, of, demand::any, here));
    of[0].state = replica_state::down;
    CHECK(lost(0, of, demand::admitted, here));
}

TEST_CASE("what is heard of a replica outlives a change of its state") {
    roster r(1, true);
    r.hear(0, false);
    CHECK(r.standings()->front().silent);
    r.set(0, being(replica_state::admitted));
    CHECK(r.standings()->front().silent);
    r.hear(0, true);
    CHECK_FALSE(r.standings()->front().silent);
    CHECK(r.standings()->front().state == replica_state::admitted);
}

TEST_CASE("of many doubts few are heard") {
    using namespace std::chrono_literals;
    roster r(1, true);
    int told = 0;
    r.on_doubt([&](std::size_t) { ++told; });
    const upstream::net::time_point t{1h};
    r.doubt(0, t, t + 150ms);
    r.doubt(0, t, t + 160ms);
    CHECK(told == 1);  // the look has not begun
    r.looked(0, t + 200ms);
    r.doubt(0, t, t + 900ms);
    CHECK(told == 1);  // it was looked at since that call was sent
    r.doubt(0, t + 210ms, t + 400ms);
    CHECK(told == 1);  // another call, too soon
    r.doubt(0, t + 210ms, t + 450ms);
    CHECK(told == 2);
    r.looked(0, t + 450ms);
    r.doubt(0, t, t + 1450ms);
    CHECK(told == 3);
    roster unwatched(1, false);
    unwatched.on_doubt([&](std::size_t) { ++told; });
    unwatched.doubt(0, t, t + 1h);
    CHECK(told == 3);
}

TEST_CASE("where nothing is watched every replica stays admitted") {
    roster r(1, false);
    r.suspect(0);
    CHECK(r.get(0).state == replica_state::admitted);
    CHECK(r.get(0).runs == 0);
}

TEST_CASE("two gateways with one roster choose alike, and strict never leaves the environment") {
    rc::check([] {
        const auto n = *rc::gen::inRange<std::size_t>(1, 30);
        std::vector<std::string> ids;
        std::vector<standing> conditions;
        for (std::size_t i = 0; i < n; ++i) {
            ids.push_back("replica-" + std::to_string(i));
            conditions.push_back(in(static_cast<replica_state>(*rc::gen::inRange(0, 5)),
                                    *rc::gen::arbitrary<bool>() ? here : elsewhere));
        }
        const digest request = sha256(*rc::gen::arbitrary<std::string>());
        // The other gateway's configuration lists the replicas the other way round.
        std::vector<upstream::route::candidate> one, other;
        for (std::size_t i = 0; i < n; ++i) {
            one.push_back({ids[i]});
            other.push_back({ids[n - 1 - i]});
        }
        const std::vector<standing> reversed(conditions.rbegin(), conditions.rend());
        for (const demand wants : {demand::any, demand::admitted}) {
            std::vector<std::uint32_t> a, b;
            std::vector<upstream::route::replica_class> known, known_reversed;
            classify(known, conditions, wants, here);
            upstream::route::rank(request, one, a, known);
            classify(known_reversed, reversed, wants, here);
            upstream::route::rank(request, other, b, known_reversed);
            RC_ASSERT(a.size() == b.size());
            for (std::size_t i = 0; i < a.size(); ++i) RC_ASSERT(one[a[i]].id == other[b[i]].id);
            if (wants == demand::admitted) {
                for (const std::uint32_t i : a) {
                    RC_ASSERT(conditions[i].state == replica_state::admitted);
                    RC_ASSERT(conditions[i].environment == here);
                }
            }
        }
    });
}
