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

TEST_CASE("long names and many replicas") {
    std::vector<std::string> names;
    for (int i = 0; i < 100; ++i)
        names.push_back(std::string(static_cast<std::size_t>(i) * 7, 'x') + std::to_string(i));
    std::vector<candidate> replicas;
    for (const std::string& n : names) replicas.push_back({n});
    const auto order = ranked(numbered(1), replicas);
    CHECK(std::set<std::string>(order.begin(), order.end()).size() == 100);
}
