#include "upstream/route/pin.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <boost/json.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

using namespace idem;
using namespace idem::upstream::route;

namespace {

digest numbered(std::size_t n) {
    return sha256("request " + std::to_string(n));
}

std::vector<std::string> ranked(const digest& request, const std::vector<candidate>& replicas) {
    std::vector<std::uint32_t> order = {99};
    rank(request, replicas, order);
    std::vector<std::string> out;
    for (const std::uint32_t i : order) out.emplace_back(replicas[i].id);
    return out;
}

}  // namespace

TEST_CASE("the published ranks") {
    std::ifstream file(IDEM_SOURCE_DIR "/tests/golden/pin.json");
    std::stringstream text;
    text << file.rdbuf();
    const auto cases = boost::json::parse(text.str()).as_object().at("cases").as_array();
    CHECK(cases.size() >= 8);
    for (const auto& c : cases) {
        const auto request = digest_from_hex(std::string(c.at("request").as_string()));
        REQUIRE(request);
        std::vector<candidate> replicas;
        for (const auto& r : c.at("replicas").as_array()) {
            const auto& id = r.at("id").as_string();
            replicas.push_back({{id.data(), id.size()}, r.at("weight").to_number<std::uint32_t>()});
        }
        std::vector<std::string> expected;
        for (const auto& id : c.at("order").as_array()) expected.emplace_back(id.as_string());
        CHECK(ranked(*request, replicas) == expected);
    }
}

TEST_CASE("the order of the configuration does not matter, and weight 0 is never chosen") {
    rc::check([](const std::vector<std::string>& names, std::size_t n) {
        const std::set<std::string> distinct(names.begin(), names.end());
        std::vector<candidate> replicas;
        for (const std::string& name : distinct)
            replicas.push_back({name, static_cast<std::uint32_t>(name.size() % 4)});
        std::vector<candidate> reversed(replicas.rbegin(), replicas.rend());
        const auto order = ranked(numbered(n), replicas);
        RC_ASSERT(order == ranked(numbered(n), reversed));
        for (const std::string& name : order) RC_ASSERT(name.size() % 4 != 0);
        std::size_t weighted = 0;
        for (const candidate& c : replicas) weighted += c.weight > 0 ? 1 : 0;
        RC_ASSERT(order.size() == weighted);
    });
}

TEST_CASE("a replica that leaves moves only its own requests") {
    const std::vector<candidate> four = {{"a"}, {"b"}, {"c"}, {"d"}};
    const std::vector<candidate> three = {{"a"}, {"b"}, {"d"}};
    for (std::size_t n = 0; n < 2000; ++n) {
        auto before = ranked(numbered(n), four);
        std::erase(before, "c");
        CHECK(before == ranked(numbered(n), three));
    }
}

TEST_CASE("weights are shares") {
    const std::vector<candidate> replicas = {{"a", 1}, {"b", 2}, {"c", 5}};
    std::map<std::string, double> first;
    constexpr std::size_t requests = 16000;
    for (std::size_t n = 0; n < requests; ++n) ++first[ranked(numbered(n), replicas).front()];
    for (const candidate& c : replicas) {
        const double share = c.weight / 8.0;
        const double deviation = std::sqrt(requests * share * (1 - share));
        CHECK(std::abs(first[std::string(c.id)] - requests * share) <
              5 * deviation);  // the requests are fixed: no luck
    }
}

namespace {

/// A set of replicas as two gateways might know it, with what they know of each.
struct pool {
    std::vector<std::string> ids;
    std::vector<std::uint32_t> weights;
    std::vector<replica_class> classes;
    [[nodiscard]] std::vector<candidate> candidates() const {
        std::vector<candidate> out;
        for (std::size_t i = 0; i < ids.size(); ++i) out.push_back({ids[i], weights[i]});
        return out;
    }
};

pool any_pool() {
    pool p;
    const auto names = *rc::gen::arbitrary<std::set<std::string>>();
    for (std::string name : names) {
        if (*rc::gen::inRange(0, 4) == 0) name.append(static_cast<std::size_t>(*rc::gen::inRange(0, 80)), 'x');
        if (std::ranges::find(p.ids, name) != p.ids.end()) continue;
        p.ids.push_back(name);
        p.weights.push_back(*rc::gen::element<std::uint32_t>(0, 1, 1, 1, 2, 7, 1000));
        p.classes.push_back(*rc::gen::element<replica_class>(0, 0, 0, 1, 2, unwanted));
    }
    return p;
}

}  // namespace

TEST_CASE("the best is the first of the ranks, whatever the states and weights") {
    rc::check([](std::size_t n) {
        const pool p = any_pool();
        const std::vector<candidate> replicas = p.candidates();
        std::vector<std::uint32_t> order;
        for (const bool states : {false, true}) {
            const std::span<const replica_class> classes =
                states ? std::span<const replica_class>(p.classes) : std::span<const replica_class>();
            rank(numbered(n), replicas, order, classes);
            const auto first = contest(replicas).best(numbered(n), classes);
            RC_ASSERT(first.has_value() == !order.empty());
            if (first) RC_ASSERT(*first == order.front());
        }
    });
}

TEST_CASE("two gateways choose alike, in whatever order they were told of the replicas") {
    rc::check([](std::size_t n) {
        const pool p = any_pool();
        pool q;
        for (std::size_t i = p.ids.size(); i-- > 0;) {
            q.ids.push_back(p.ids[i]);
            q.weights.push_back(p.weights[i]);
            q.classes.push_back(p.classes[i]);
        }
        const auto one = contest(p.candidates()).best(numbered(n), p.classes);
        const auto other = contest(q.candidates()).best(numbered(n), q.classes);
        RC_ASSERT(one.has_value() == other.has_value());
        if (one) RC_ASSERT(p.ids[*one] == q.ids[*other]);
    });
}

TEST_CASE("a lower class comes first, and within it the scores decide") {
    rc::check([](std::size_t n) {
        const pool p = any_pool();
        const std::vector<candidate> replicas = p.candidates();
        std::vector<std::uint32_t> all, order;
        rank(numbered(n), replicas, all);
        rank(numbered(n), replicas, order, p.classes);
        std::vector<std::uint32_t> grouped;
        for (replica_class group = 0; group < 3; ++group) {
            std::ranges::copy_if(all, std::back_inserter(grouped),
                                 [&](std::uint32_t i) { return p.classes[i] == group; });
        }
        RC_ASSERT(grouped == order);
    });
}

TEST_CASE("removing one of n moves its share of the keys, and no other key") {
    for (const std::size_t n : {2U, 3U, 8U, 20U}) {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < n; ++i) names.push_back("replica-" + std::to_string(i));
        std::vector<candidate> before(names.begin(), names.end()), after(names.begin() + 1, names.end());
        const contest of_before(before), of_after(after);
        constexpr std::size_t requests = 8000;
        std::size_t moved = 0;
        for (std::size_t k = 0; k < requests; ++k) {
            const auto was = of_before.best(numbered(k)), is = of_after.best(numbered(k));
            if (*was == 0) ++moved;
            if (*was != 0) CHECK(names[*was] == after[*is].id);
        }
        const double share = 1.0 / static_cast<double>(n);
        CHECK(std::abs(static_cast<double>(moved) - requests * share) < 5 * std::sqrt(requests * share * (1 - share)));
    }
}

TEST_CASE("names of every length are hashed as XXH3 hashes them") {
    for (std::size_t size = 0; size < 300; ++size) {
        const std::string longer(size, 'a'), other(size + 1, 'b');
        const std::vector<candidate> two = {{longer}, {other}};
        std::vector<std::uint32_t> order;
        for (std::size_t n = 0; n < 8; ++n) {
            rank(numbered(n), two, order);
            CHECK(contest(two).best(numbered(n)) == order.front());
        }
    }
}

TEST_CASE("long names and many replicas") {
    std::vector<std::string> names;
    for (int i = 0; i < 100; ++i)
        names.push_back(std::string(static_cast<std::size_t>(i) * 7, 'x') + std::to_string(i));
    std::vector<candidate> replicas;
    for (const std::string& n : names) replicas.push_back({n});
    const auto order = ranked(numbered(1), replicas);
    CHECK(std::set<std::string>(order.begin(), order.end()).size() == 100);
}
