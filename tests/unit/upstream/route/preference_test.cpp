#include "upstream/route/preference.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>

using namespace idem;
using namespace idem::upstream::route;

TEST_CASE("one after the other, in the order of the ranks, and then nothing") {
    rc::check([](std::size_t n) {
        std::vector<std::string> names;
        std::vector<candidate> replicas;
        std::vector<replica_class> classes;
        const auto size = *rc::gen::inRange<std::size_t>(0, 40);
        names.reserve(size);
        for (std::size_t i = 0; i < size; ++i) {
            names.push_back("replica-" + std::to_string(i));
            replicas.push_back({names.back(), *rc::gen::inRange<std::uint32_t>(0, 3)});
            classes.push_back(*rc::gen::element<replica_class>(0, 0, 1, unwanted));
        }
        if (*rc::gen::arbitrary<bool>()) classes.clear();
        const digest request = sha256(std::to_string(n));
        std::vector<std::uint32_t> expected, got;
        rank(request, replicas, expected, classes);
        const contest among(replicas);
        preference order(among, request, classes);
        while (const auto next = order.next()) got.push_back(*next);
        RC_ASSERT(got == expected);
        RC_ASSERT(!order.next());
        RC_ASSERT(order.leaves_out() == (std::ranges::find(classes, unwanted) != classes.end()));
    });
}
